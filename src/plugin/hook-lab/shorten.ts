const longest = 160

/** The beginning of a text, for a message of one line. */
export function shorten(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 3)}...` : text
}
