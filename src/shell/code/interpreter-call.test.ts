import { expect, test } from 'vitest'
import { isInterpreter } from './interpreter-call.ts'

test.each(
  'python python3 python3.12 pypy pypy3 ipython ipython3 node nodejs bun tsx ts-node deno perl perl5.36 ruby ruby3.2 jruby php php8.3 lua lua5.4 luajit osascript Rscript R julia elixir swift groovy scala jshell emacs tclsh expect guile sbcl clisp racket'.split(
    ' ',
  ),
)('%s runs programs', (name) => {
  expect(isInterpreter(name)).toBe(true)
})

test.each('ls pytest nodemon bunx tsc perldoc rubocop phpunit luacheck Rdata emacsclient'.split(' '))(
  '%s is another program',
  (name) => {
    expect(isInterpreter(name)).toBe(false)
  },
)
