/** Agents take a text of up to 10,000 characters whole and put a longer one into a file that nobody reads. */
const maxCharacters = 9_500
const note = '\n[cut by the guard: it was longer]'

/**
 * A text as every agent accepts it: not too long, and without half characters, which the JSON readers of some agents
 * take for a broken answer and then let everything pass.
 */
export function hookText(text: string): string {
  if (text.length <= maxCharacters) return text.toWellFormed()
  return text.slice(0, maxCharacters - note.length).toWellFormed() + note
}
