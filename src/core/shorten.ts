/** The text, or its beginning followed by `mark`. Never longer than `maxChars`, never half a character. */
export function shorten(text: string, maxChars: number, mark = '…'): string {
  return text.length <= maxChars ? text : `${firstChars(text, maxChars - mark.length)}${mark}`
}

/** The beginning and the end of a text, one third and two thirds, with a line between them that counts the omitted characters. */
export function headAndTail(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = Math.floor(maxChars / 3)
  const left = firstChars(text, head)
  const right = text.slice(text.length - (maxChars - head)).replace(/^[\udc00-\udfff]/, '')
  const missing = text.length - left.length - right.length
  return `${left}\n[${missing} characters are left out here]\n${right}`
}

/** The same with whole pieces, joined by line breaks. `what` names them. */
export function headAndTailOfList(pieces: readonly string[], maxChars: number, what: string): string {
  const whole = pieces.join('\n')
  if (whole.length <= maxChars) return whole
  const head = countFitting(pieces, Math.floor(maxChars / 3))
  const rest = pieces.slice(head).toReversed()
  const tail = countFitting(rest, maxChars - Math.floor(maxChars / 3))
  const missing = pieces.length - head - tail
  const left = pieces.slice(0, head)
  return [...left, `[${missing} ${what} are left out here]`, ...pieces.slice(head + missing)].join('\n')
}

/** The first `maxChars` characters, without half of a surrogate pair at the end. */
export function firstChars(text: string, maxChars: number): string {
  const cut = text.slice(0, Math.max(0, maxChars))
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

function countFitting(pieces: readonly string[], maxChars: number): number {
  let used = 0
  const at = pieces.findIndex((piece) => {
    used += piece.length + 1
    return used > maxChars
  })
  return at === -1 ? pieces.length : at
}
