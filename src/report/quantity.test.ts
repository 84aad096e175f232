import { expect, test } from 'vitest'
import { formatCost, formatInterval, formatPercent, formatRate } from './quantity.ts'

test('unknown cost is unmetered and small cost keeps its digits', () => {
  expect([null, 0, 0.00000002, 0.00004, 0.0042, 0.0421, 12.3456].map(formatCost)).toEqual([
    'unmetered',
    '$0.00',
    '<$0.000001',
    '$0.000040',
    '$0.0042',
    '$0.04',
    '$12.35',
  ])
})

test('an imperfect rate never reads as 100% nor a real one as 0%', () => {
  expect([0, 0.001, 0.5, 0.996, 1].map(formatPercent)).toEqual(['0%', '<1%', '50%', '>99%', '100%'])
})

test('an interval is widened to whole percents, never narrowed', () => {
  expect(formatInterval({ low: 0.2077, high: 0.9385 })).toBe('20-94%')
  expect(formatRate({ value: 2 / 3, low: 0.2077, high: 0.9385, n: 3 })).toBe('67% (20-94%)')
  expect(formatRate({ value: null, low: 0, high: 1, n: 0 })).toBe('-')
})
