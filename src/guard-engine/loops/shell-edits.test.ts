import { expect, test } from 'vitest'
import { shellEditedPaths } from './shell-edits.ts'

test.each([
  ["sed -i 's/1/2/' src/limit.ts", 'src/limit.ts'],
  ['echo 2 > conf/limit.txt', 'conf/limit.txt'],
  ['git checkout -- src/a.ts', 'src/a.ts'],
  ['cp fixtures/a.json data/a.json', 'data/a.json'],
  ["perl -pi -e 's/a/b/' lib/a.pm", 'lib/a.pm'],
])('%s may change %s', (command, path) => {
  expect(shellEditedPaths(command)).toContain(path)
})

test.each(['npm test', 'cat src/a.ts', 'grep -n "a > b" src/a.ts | head', 'ls 2>/dev/null', 'git status'])(
  '%s is not read as an edit of many files',
  (command) => {
    expect(shellEditedPaths(command).length).toBeLessThanOrEqual(1)
  },
)
