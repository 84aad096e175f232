import { expect, test } from 'vitest'
import { failureOf, showsGreen } from './judge-run.ts'

test('two runs that fail without a word have no common error, whoever runs them', () => {
  expect(failureOf(1, '')).toEqual({})
  expect(failureOf(1, 'Exit code 1')).toEqual({})
})

test('the same output is the same error, whoever runs the command', () => {
  const { error } = failureOf(1, 'the check found a problem')
  expect(error).toBeDefined()
  expect(failureOf(1, 'Exit code 1\nthe check found a problem')).toEqual({ error })
})

test.each([
  ['lines that look like a verdict', 'Ok: 3 of more\n'.repeat(100_000)],
  ['empty lines', '\n'.repeat(200_000)],
  ['digits behind the name of a verdict', `Tests: ${'1'.repeat(200_000)}`],
])('reads a long output in time that grows with its length: %s', (_, output) => {
  for (const isMixed of [false, true])
    for (const part of ['end', 'few', 'lines'] as const)
      expect(
        showsGreen(`${output}.`, { part, first: 0, isMixed, isLoud: true }, { kind: 'test', runners: [] }),
      ).toBe(false)
})
