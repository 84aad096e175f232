/** Head and tail of a text, a third and two thirds, with a line that tells how much was left out between them. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = Math.floor(maxChars / 3)
  const tail = maxChars - head
  const left = text.slice(0, head).replace(/[\ud800-\udbff]$/, '')
  const right = text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, '')
  const missing = text.length - left.length - right.length
  return `${left}\n[${missing} characters are left out here]\n${right}`
}

/** The same with whole pieces, joined by line breaks. `what` names them. */
export function shortenLines(pieces: readonly string[], maxChars: number, what: string): string {
  const whole = pieces.join('\n')
  if (whole.length <= maxChars) return whole
  const head = countFitting(pieces, Math.floor(maxChars / 3))
  const rest = pieces.slice(head).toReversed()
  const tail = countFitting(rest, maxChars - Math.floor(maxChars / 3))
  const missing = pieces.length - head - tail
  const left = pieces.slice(0, head)
  return [...left, `[${missing} ${what} are left out here]`, ...pieces.slice(head + missing)].join('\n')
}

/** How many of the first pieces have room. */
function countFitting(pieces: readonly string[], maxChars: number): number {
  let used = 0
  const at = pieces.findIndex((piece) => {
    used += piece.length + 1
    return used > maxChars
  })
  return at === -1 ? pieces.length : at
}
