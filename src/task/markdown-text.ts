/** Quotes foreign text for a Markdown report, so it cannot add headings. */
export function quoted(text: string): string {
  return text
    .trimEnd()
    .split(/\r\n|[\n\r]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}

/** For a list item or a table cell. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
