import { quoteWord } from '../shell/quote-word.ts'

/** A command line that can be pasted into a shell. */
export function commandWords(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ')
}
