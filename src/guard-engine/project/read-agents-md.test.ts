import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAgentsMd } from './read-agents-md.ts'

const corpus = join(import.meta.dirname, '../../../test/corpus/guard/agents-md.jsonl')
const cases: { name: string; text: string; commands: string[] }[] = readFileSync(corpus, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

test.each(cases)('AGENTS.md declares what it means: $name', ({ text, commands }) => {
  expect(readAgentsMd(text)).toEqual(commands)
})

test('AGENTS.md declares at most twenty commands', () => {
  const text = Array.from({ length: 30 }, (_, index) => `- \`pytest tests/${index}\``).join('\n')
  expect(readAgentsMd(text)).toHaveLength(20)
})
