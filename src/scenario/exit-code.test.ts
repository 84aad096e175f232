import { expect, test } from 'vitest'
import type { RunSummary, RunVerdict } from '../core/summary.ts'
import { exitCodeOf } from './exit-code.ts'

const rate = (value: number | null, low = 0) => ({ value, low, high: 1, n: 1 })

function summary(
  verdict: RunVerdict,
  rates: (number | null)[] = [],
  more: Partial<RunSummary> = {},
): RunSummary {
  return {
    verdict,
    notRun: 0,
    counts: { pass: 0, fail: 0, infra: 0, invalid: 0 },
    cases: rates.map((value) => ({ passRate: rate(value) })),
    ...more,
  } as RunSummary
}

const plain = { threshold: 1, strict: false }

test.each<[RunVerdict, number]>([
  ['pass', 0],
  ['partial', 0],
  ['inconclusive', 0],
  ['invalid', 2],
  ['infra', 3],
])('%s gives %d', (verdict, code) => {
  expect(exitCodeOf(summary(verdict), plain)).toBe(code)
})

test('a failure gives 1 when a case is below the threshold, and 0 when none is', () => {
  expect(exitCodeOf(summary('fail', [1, 0.5]), plain)).toBe(1)
  expect(exitCodeOf(summary('fail', [1, 0.5]), { threshold: 0.5, strict: false })).toBe(0)
  expect(exitCodeOf(summary('fail', [null, 0.4]), { threshold: 0.5, strict: false })).toBe(1)
})

test('a tolerated failure beside an invalid case still gives 2', () => {
  const counts = { pass: 1, fail: 1, infra: 0, invalid: 1 }
  expect(exitCodeOf(summary('fail', [0.5], { counts }), { threshold: 0.5, strict: false })).toBe(2)
})

test('--strict tells partial, inconclusive and doubtful runs apart', () => {
  const strict = { threshold: 1, strict: true }
  expect(exitCodeOf(summary('partial', [1], { notRun: 2 }), strict)).toBe(4)
  expect(exitCodeOf(summary('inconclusive'), strict)).toBe(4)
  expect(exitCodeOf(summary('pass', [1]), strict)).toBe(0)
  expect(exitCodeOf(summary('pass', [1]), { threshold: 0.9, strict: true })).toBe(4)
})
