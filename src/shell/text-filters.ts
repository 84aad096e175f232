import { charsOf } from './glob-reg-exp.ts'
import { readOptions } from './options.ts'
import type { Arg, ProgramCall } from './shell-state.ts'
import { isKnown } from './unknown-part.ts'

/** `sed s/a/b/` over a known text, as far as its pattern reads the same in JavaScript; null for more. */
export function substituted({ args, state }: ProgramCall): string | null {
  const { has, values, operands } = readOptions(args, 'e expression f file')
  const own = values('e expression')
  const scripts = own.length > 0 ? own : operands.slice(0, 1)
  if (state.stdin === null || !isKnown(state.stdin) || has('n') || operands.length > (own.length > 0 ? 0 : 1))
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
export function cut({ args, state }: ProgramCall): string | null {
  const { values, operands } = readOptions(args, 'c characters b bytes d delimiter f fields')
  if (state.stdin === null || !isKnown(state.stdin) || operands.length > 0) return null
  const [characters] = values('c characters b bytes')
  const [fields] = values('f fields')
  const delimiter = values('d delimiter')[0]?.value ?? '\t'
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

/** What `tr` makes of a text. */
export function translate(text: string | null, args: readonly Arg[]): string | null {
  if (text === null || !isKnown(text)) return null
  const sets = args.filter(({ value }) => !/^-[a-zA-Z]+$/.test(value)).map(({ value }) => setOf(value))
  const flags = args
    .map(({ value }) => value)
    .filter((value) => /^-[a-zA-Z]+$/.test(value))
    .join('')
  const [from = [], to = []] = sets
  if (flags.includes('c') || flags.includes('C'))
    return flags.includes('d') ? [...text].filter((char) => from.includes(char)).join('') : null
  if (flags.includes('d')) return [...text].filter((char) => !from.includes(char)).join('')
  if (to.length === 0) return text
  return [...text]
    .map((char) => {
      const at = from.lastIndexOf(char)
      return at === -1 ? char : (to[at] ?? to.at(-1) ?? char)
    })
    .join('')
}

/** `a-z`, `[:upper:]`, `\n`. */
function setOf(text: string): readonly string[] {
  const plain = text
    .replaceAll('[:upper:]', 'A-Z')
    .replaceAll('[:lower:]', 'a-z')
    .replaceAll('[:digit:]', '0-9')
    .replaceAll('[:space:]', ' \t\n\r')
    .replaceAll(/\\([ntr\\]|[0-7]{1,3})/g, (_, code: string) =>
      /\d/.test(code)
        ? String.fromCharCode(Number.parseInt(code, 8))
        : ({ n: '\n', t: '\t', r: '\r' }[code] ?? code),
    )
  const found: string[] = []
  const chars = [...plain]
  for (let index = 0; index < chars.length; index += 1) {
    const [char = '', dash, end] = chars.slice(index, index + 3)
    if (dash !== '-' || end === undefined) found.push(char)
    else {
      const last = Math.min(end.charCodeAt(0), char.charCodeAt(0) + 255)
      for (let code = char.charCodeAt(0); code <= last; code += 1) found.push(String.fromCharCode(code))
      index += 2
    }
  }
  return found
}
