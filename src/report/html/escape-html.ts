import { plainText } from '../plain-text.ts'

/** The one way foreign text gets into the page, as content or as a quoted attribute. Escape codes of terminals are gone too. */
export function escapeHtml(text: string): string {
  return plainText(text).replaceAll(/[&<>"'`]/g, (character) => entities[character] ?? character)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}
