import { absolutePath } from './absolute-path.ts'
import type { Invocation } from './interpreter.ts'
import { readOptions } from './options.ts'

/** A makefile is out of sight, unless it comes with the command. */
export function runMake({ args, state, shell }: Invocation): void {
  const valued = ['f', 'file', 'makefile', 'E', 'eval', 'C', 'directory', 'j', 'o', 'W', 'I']
  const { values } = readOptions(args, valued)
  for (const { value } of values('E', 'eval')) {
    shell.opaque(value, 'make runs rules that come with the command')
    for (const [, command = ''] of value.matchAll(/\$\(shell ([^)]*)\)/g)) shell.script(command, state)
  }
  const [directory] = values('C', 'directory')
  const at = directory === undefined ? state.cwd : absolutePath(directory.value, state.cwd)
  const named = values('f', 'file', 'makefile').map(({ value }) => value)
  for (const file of named.length > 0 ? named : ['GNUmakefile', 'makefile', 'Makefile']) {
    const isInput = file === '-' || file === '/dev/stdin'
    const text = isInput ? state.stdin : state.made.files.get(absolutePath(file, at))
    if (text === null || text === undefined) continue
    shell.opaque(text, 'make runs rules that come with the command')
    for (const [, recipe = ''] of text.matchAll(/(?:^\t|;)[@+-]*(.+)$/gm))
      shell.script(recipe.replaceAll('$$', '$'), { ...state, cwd: at })
  }
}

/** Scripts of a package that the command itself defines run when it asks for them. */
export function runNpm({ args, state, shell }: Invocation): void {
  const words = readOptions(args).operands.map(({ value }) => value)
  if (words[0] === 'pkg' && words[1] === 'set')
    for (const setting of words.slice(2)) {
      const [, script] = /^scripts\.[^=]+=(.*)$/s.exec(setting) ?? []
      if (script !== undefined) shell.script(script, state)
    }
  const made = state.made.files.get(absolutePath('package.json', state.cwd))
  if (made === undefined) return
  for (const [, script = ''] of made.matchAll(/"[\w:-]+"\s*:\s*"((?:[^"\\]|\\.)*)"/g))
    shell.script(script.replaceAll(/\\(.)/g, '$1'), state)
}
