import { expect, test } from 'vitest'
import { exitCodeOf } from './exit-code.ts'
import type { RunSummary, RunVerdict } from './summary.ts'

function summary(verdict: RunVerdict, more: Partial<RunSummary> = {}): RunSummary {
  return {
    verdict,
    notRun: 0,
    counts: { pass: 1, fail: 0, infra: 0, invalid: 0 },
    cases: [{ passRate: { value: 1, low: 0.2, high: 1, n: 1 } }],
    ...more,
  } as RunSummary
}

const plain = { strict: false }
const strict = { strict: true }

test.each<[RunVerdict, number]>([
  ['pass', 0],
  ['partial', 0],
  ['fail', 1],
  ['invalid', 2],
  ['infra', 3],
])('%s gives %d', (verdict, code) => {
  expect(exitCodeOf(summary(verdict), plain)).toBe(code)
})

test('a run without counted trials is never a success', () => {
  const counts = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  expect(exitCodeOf(summary('partial', { counts, notRun: 3, cases: [] }), plain)).toBe(4)
  expect(exitCodeOf(summary('inconclusive', { counts, cases: [] }), plain)).toBe(4)
})

test('strict fails a partial run and one that may be below its threshold', () => {
  expect(exitCodeOf(summary('pass'), strict)).toBe(0)
  expect(exitCodeOf(summary('partial', { notRun: 2 }), strict)).toBe(4)
  expect(exitCodeOf(summary('partial'), strict)).toBe(4)
  expect(exitCodeOf(summary('pass', { threshold: 0.9 }), strict)).toBe(4)
  expect(exitCodeOf(summary('pass', { threshold: 0.1 }), strict)).toBe(0)
})
