import { charsOf } from './glob-pattern.ts'
import type { Invocation } from './interpreter.ts'
import { readOptions } from './options.ts'
import { isKnown } from './unknown.ts'

/** `sed s/a/b/` over a known text, as far as its pattern reads the same in JavaScript; null for more. */
export function substituted({ args, state }: Invocation): string | null {
  const { given, values, operands } = readOptions(args, ['e', 'expression', 'f', 'file'])
  const own = values('e', 'expression')
  const scripts = own.length > 0 ? own : operands.slice(0, 1)
  if (
    state.stdin === null ||
    !isKnown(state.stdin) ||
    given.has('n') ||
    operands.length > (own.length > 0 ? 0 : 1)
  )
    return null
  let text = state.stdin
  for (const { value } of scripts)
    for (const each of value.split(';')) {
      const [, , from = '', to = '', flags = ''] =
        /^\s*s([^\w\s\\])((?:(?!\1).)*)\1((?:(?!\1).)*)\1([gi]*)\s*$/.exec(each) ?? []
      if (from === '' || from.length > 100 || /\\[(){}|+?]|[({|+?*]/.test(from)) return null
      try {
        const pattern = new RegExp(from, `m${flags}`)
        text = text
          .split('\n')
          .map((line) =>
            line.replace(pattern, (whole) =>
              to.replaceAll(/\\(.)|&/g, (part, char?: string) => char ?? (part === '&' ? whole : part)),
            ),
          )
          .join('\n')
      } catch {
        return null
      }
    }
  return text
}

/** `cut -c`, `cut -d -f` over a known text. */
export function cut({ args, state }: Invocation): string | null {
  const { values, operands } = readOptions(args, [
    'c',
    'characters',
    'b',
    'bytes',
    'd',
    'delimiter',
    'f',
    'fields',
  ])
  if (state.stdin === null || !isKnown(state.stdin) || operands.length > 0) return null
  const [characters] = values('c', 'characters', 'b', 'bytes')
  const [fields] = values('f', 'fields')
  const delimiter = values('d', 'delimiter')[0]?.value ?? '\t'
  const list = (characters ?? fields)?.value ?? ''
  if (!/^[\d,-]+$/.test(list)) return null
  return state.stdin
    .split('\n')
    .map((line) => {
      const parts =
        characters === undefined ? line.split(delimiter) : charsOf(line, true).map(({ char }) => char)
      const chosen = parts.filter((_, index) => list.split(',').some((range) => inRange(index + 1, range)))
      return chosen.join(characters === undefined ? delimiter : '')
    })
    .join('\n')
}

function inRange(position: number, range: string): boolean {
  const [, from = '', dash, to = ''] = /^(\d*)(-?)(\d*)$/.exec(range) ?? []
  if (dash !== '-') return position === Number(from)
  return (
    position >= Number(from === '' ? 1 : from) && position <= Number(to === '' ? Number.MAX_SAFE_INTEGER : to)
  )
}
