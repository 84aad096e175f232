/** Text of others for a paper of ours, in Markdown: it cannot pose as a heading of ours. */
export function quoted(text: string): string {
  return text
    .trimEnd()
    .split(/\r\n|[\n\r]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}

/** For an entry of a list or a cell of a table. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
