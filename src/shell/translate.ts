import type { Arg } from './interpreter.ts'
import { isKnown } from './unknown.ts'

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
