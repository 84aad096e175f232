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

/** Every `nth` case, where playing one takes long and the corpus is large. Set GANTRY_TEST_CORPUS=all after a change of the corpus to play all. */
export function everyNth<Case>(cases: readonly Case[], nth: number): readonly Case[] {
  return process.env.GANTRY_TEST_CORPUS === 'all' ? cases : cases.filter((_, index) => index % nth === 0)
}
