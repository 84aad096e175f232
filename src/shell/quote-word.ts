/** A word for the text of a shell, in quotes where it needs them. */
export function quoteWord(word: string): string {
  return /^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
