import { absolutePath } from '../absolute-path.ts'
import { argOf, type Invocation } from '../interpreter.ts'
import { readOptions } from '../options.ts'
import { literalsOf } from './literals.ts'

/** `awk`: files it prints to, commands it prints to or runs, and files it edits in place. */
export function judgeAwk(invocation: Invocation): null {
  const { args, state, shell, name } = invocation
  const { given, values, operands } = readOptions(args, [
    'v',
    'assign',
    'f',
    'file',
    'F',
    'i',
    'include',
    'e',
    'source',
  ])
  const inline = values('e', 'source')
  const own = inline.length === 0 && !given.has('f') && !given.has('file')
  const made = values('f', 'file').map(
    ({ value }) =>
      (value === '-' || value === '/dev/stdin'
        ? state.stdin
        : state.made.files.get(absolutePath(value, state.cwd))) ?? '',
  )
  const code = own ? (operands[0]?.value ?? '') : [...inline.map(({ value }) => value), ...made].join('\n')
  const files = own ? operands.slice(1) : operands
  if (values('i', 'include').some(({ value }) => value === 'inplace'))
    for (const file of files) shell.write(file, `${name} -i inplace`, state)
  const assigned = [...values('v', 'assign'), ...files].map(({ value }) => /^(\w+)=(.*)$/s.exec(value) ?? [])
  for (const [, target = ''] of code.matchAll(/\bprintf?\b[^;\n}]*?>{1,2}\s*([^;\n}]+)/g))
    writeTo(target.trim())
  if (/\bsystem\s*\(|\||getline/.test(code))
    for (const { value } of literalsOf(code)) shell.script(value, state)
  return null

  function writeTo(target: string): void {
    const literals = literalsOf(target)
    const [first] = literals
    if (first !== undefined && first.start <= 1 && first.end >= target.length - 1) {
      shell.write(argOf(first.value), `${name} prints to it`, state)
      return
    }
    const [, , value] = assigned.find(([, variable]) => variable === target.replaceAll(/[()\s]/g, '')) ?? []
    if (value !== undefined) shell.write(argOf(value), `${name} prints to it`, state)
    else
      for (const text of [
        ...literals.map((each) => each.value),
        ...args.map((each) => each.value),
        ...(/ENVIRON/.test(code) ? [...state.variables.values()].flat() : []),
      ]) {
        if (text !== code)
          shell.opaque(text, `${name} prints to a file whose name is only known when it runs`, {
            exact: true,
          })
      }
  }
}
