/** A word for the text of a shell, in quotes where it needs them. */
export function quoteWord(word: string): string {
  return /^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** A command line that can be pasted into a shell. */
export function commandWords(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ')
}
