import { stripVTControlCharacters } from 'node:util'
import { displayWidth, wrapWords } from '../../report/display-width.ts'
import type { CliContext } from '../context.ts'

/** Lines as wide as the terminal, or as COLUMNS says; those below the first have its indent and `indent`. In a pipe lines stay whole. */
export function fitLines(
  text: string,
  { stdout, env }: Pick<CliContext, 'stdout' | 'env'>,
  indent = 0,
): readonly string[] {
  const columns = stdout.isTTY || env.COLUMNS !== undefined ? stdout.columns - indent : Infinity
  if (displayWidth(text) <= columns) return [text]
  const own = / */.exec(stripVTControlCharacters(text))?.[0] ?? ''
  // A painted text begins with its color instead.
  const start = text.startsWith(' ') ? own : ''
  const [first = '', ...rest] = wrapWords(text.slice(start.length), columns - own.length)
  return [`${start}${first}`, ...rest.map((line) => `${' '.repeat(indent)}${own}${line}`)]
}
