import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type LoopCase, playLoopCase } from '../../test/support/play-loop-case.ts'

const corpus = join(import.meta.dirname, '../../test/corpus/guard/loops.jsonl')
const cases = readFileSync(corpus, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): LoopCase => JSON.parse(line))

test('the corpus has at least 70 cases with unique names', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  expect(cases.length).toBeGreaterThanOrEqual(70)
})

test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => {
  const warnings = playLoopCase(one)
  expect(warnings.map(({ step }) => step)).toEqual(one.warns.map(([step]) => step))
  for (const [index, [, part]] of one.warns.entries()) expect(warnings[index]?.text).toContain(part)
})
