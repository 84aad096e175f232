/** An amount of US dollars above 0, such as `2.50` or `$2.50`; null for any other text. */
export function parseUsd(text: string): number | null {
  const number = Number(text.replace(/^\$/, ''))
  return text.trim() !== '' && Number.isFinite(number) && number > 0 ? number : null
}
