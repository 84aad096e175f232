import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The cases of a corpus in `test/corpus/guard`, one JSON object per line. */
export function corpusLines<Case>(name: string): readonly Case[] {
  const text = readFileSync(join(import.meta.dirname, '../corpus/guard', `${name}.jsonl`), 'utf8')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): Case => JSON.parse(line))
}
