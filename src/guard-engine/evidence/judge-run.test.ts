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

test('reads a long output in time that grows with its length', () => {
  const output = 'Ok: 3 of more\n'.repeat(100_000)
  const shown = { part: 'end', first: 0, isMixed: false, isLoud: true } as const
  expect(showsGreen(output, shown, { kind: 'test', runners: [] })).toBe(false)
})
