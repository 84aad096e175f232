import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A command inside wrappers, and the inner command that each user of the wrapper table sees. */
export interface WrappedCommand {
  readonly command: string
  readonly guard: string
  /** null when the most likely reading is another command. */
  readonly metrics: string | null
  /** null when a run of it is not evidence for the inner command. */
  readonly evidence: string | null
  /** Takes the place of the inner command to see whether the guard refuses it; `rm .env` when absent. */
  readonly harm?: string
}

export function readWrappedCommands(): readonly WrappedCommand[] {
  const file = join(import.meta.dirname, '../corpus/guard/wrapped-commands.jsonl')
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): WrappedCommand => JSON.parse(line))
}
