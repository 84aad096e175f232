import { asObject, parseJson } from './json-fields.ts'

/** Texts around a hit, in characters. */
const [charsBefore, charsAfter] = [60, 100]
/** A longer line is not parsed. */
const maxParsedChars = 500_000

/** Where a text is in a line of a log, whether it is JSON or not; null when it is not there. The words around it are for people. */
export function searchLine(line: string, text: string): string | null {
  const written = JSON.stringify(text.toLowerCase()).slice(1, -1)
  const wanted = line.toLowerCase().includes(written) ? written : text.toLowerCase()
  if (!line.toLowerCase().includes(wanted)) return null
  const event = line.length > maxParsedChars ? null : asObject(parseJson(line))
  const found = event === null ? null : textWith(event, text.toLowerCase())
  if (event === null || found === null) return excerptOf(line, wanted)
  const name = [event.tool, event.role, event.event].find(
    (word) => typeof word === 'string' && word !== found,
  )
  return `${String(name ?? 'line').replaceAll('_', ' ')}: ${excerptOf(found, text.toLowerCase())}`
}

/** The first text in a value that has the wanted one, however deep. */
function textWith(value: unknown, wanted: string): string | null {
  if (typeof value === 'string') return value.toLowerCase().includes(wanted) ? value : null
  if (typeof value !== 'object' || value === null) return null
  for (const inner of Object.values(value)) {
    const found = textWith(inner, wanted)
    if (found !== null) return found
  }
  return null
}

function excerptOf(text: string, wanted: string): string {
  const at = text.toLowerCase().indexOf(wanted)
  const [from, to] = [Math.max(0, at - charsBefore), at + wanted.length + charsAfter]
  const around = text.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ')
  return `${from > 0 ? '…' : ''}${around}${to < text.length ? '…' : ''}`
}
