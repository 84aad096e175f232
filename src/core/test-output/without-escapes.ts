/** Text without what only a terminal understands: colours, cursor moves, titles, links. */
export function withoutEscapes(text: string): string {
  return text.includes(escapeChar) || text.includes(controlChar) ? text.replaceAll(sequence, '') : text
}

const escapeChar = String.fromCharCode(0x1b)
const controlChar = String.fromCharCode(0x9b)
const bell = String.fromCharCode(0x07)

/** Control sequences; strings such as a title, up to their end on the same line; the forms of two characters. */
const sequence = new RegExp(
  [
    `(?:${escapeChar}\\[|${controlChar})[0-?]*[ -/]*[@-~]`,
    `${escapeChar}[\\]P^_X][^${bell}${escapeChar}\\n]*(?:${bell}|${escapeChar}\\\\)`,
    `${escapeChar}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)
