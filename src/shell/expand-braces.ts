import type { Word } from 'unbash'

/** The words that a brace expansion produces, as source text; null when the word has none. */
export function expandBraces(word: Word): readonly string[] | null {
  const brace = word.parts?.find(({ type }) => type === 'BraceExpansion')
  if (brace === undefined) return null
  const before = word.text.slice(0, brace.pos - word.pos)
  const after = word.text.slice(brace.end - word.pos)
  const options = optionsOf(brace.text.slice(1, -1))
  return options.slice(0, maxOptions).map((option) => `${before}${option}${after}`)
}

const maxOptions = 128

function optionsOf(inner: string): readonly string[] {
  const split = splitCommas(inner)
  if (split.length > 1) return split
  const range = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(inner)
  if (range === null) return [`\\{${inner}\\}`]
  const [, from = '', to = '', step = '1'] = range
  const numeric = /\d/.test(from)
  const start = numeric ? Number(from) : from.charCodeAt(0)
  const end = numeric ? Number(to) : to.charCodeAt(0)
  const by = Math.max(1, Math.abs(Number(step))) * (end < start ? -1 : 1)
  const count = Math.min(maxOptions, Math.floor(Math.abs((end - start) / by)) + 1)
  const width = numeric && /^-?0\d/.test(from) ? from.length : 0
  return Array.from({ length: count }, (_, index) => {
    const value = start + index * by
    return numeric ? String(value).padStart(width, '0') : String.fromCharCode(value)
  })
}

/** At commas outside quotes and inner braces. */
function splitCommas(text: string): string[] {
  const found = ['']
  let depth = 0
  let quote = ''
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? ''
    const last = found.length - 1
    if (char === '\\' && quote !== "'") {
      found[last] += char + (text[index + 1] ?? '')
      index += 1
      continue
    }
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === "'" || char === '"' || char === '`') quote = char
    else if (char === '{' || char === '(') depth += 1
    else if (char === '}' || char === ')') depth -= 1
    if (char === ',' && depth === 0 && quote === '') found.push('')
    else found[last] += char
  }
  return found
}
