import { GantryError } from '../../core/error.ts'
import { readInput } from '../../io/read-input.ts'

const maxBytes = 64 * 1024 * 1024

/** What was written on the command line, or what comes by standard input for `-`. */
export async function taskText(words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return words.join(' ')
  const input = await readInput(0, maxBytes)
  if (input === 'too_large') throw new GantryError('USAGE', 'the task on standard input is too long')
  return input.toString('utf8')
}
