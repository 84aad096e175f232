/**
 * The one way text gets into XML. What XML 1.0 cannot carry even escaped (control characters, lone surrogates, U+FFFE,
 * U+FFFF) becomes U+FFFD. Quotes are escaped too, so that one function serves content and attributes; `]]>` cannot come out of it.
 */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"'\r]/g, (character) => entities[character] ?? character)
}

/** ` name="value"…`. White space is escaped as well: a parser would fold it to blanks. */
export function xmlAttributes(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(
      ([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
    )
    .join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
}
