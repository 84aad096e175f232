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
