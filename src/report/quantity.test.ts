import { expect, test } from 'vitest'
import {
  formatCost,
  formatInterval,
  formatMean,
  formatPercent,
  formatPoints,
  formatRate,
} from './quantity.ts'

test('cost has four decimals below a dollar and two above; unknown is unmetered, and a small cost is not zero', () => {
  expect([null, 0, 0.00000002, 0.0001, 0.01729, 0.06, 0.99994, 0.99996, 1, 12.3456].map(formatCost)).toEqual([
    'unmetered',
    '$0.0000',
    '<$0.0001',
    '$0.0001',
    '$0.0173',
    '$0.0600',
    '$0.9999',
    '$1.00',
    '$1.00',
    '$12.35',
  ])
})

test('a mean has one decimal if needed, and is never rounded to zero', () => {
  expect([0, 0.01, 0.25, 3, 4.96, 7.5].map(formatMean)).toEqual(['0', '<0.1', '0.3', '3', '5', '7.5'])
})

test('an imperfect rate is never shown as 100% nor a real one as 0%', () => {
  expect([0, 0.001, 0.5, 0.996, 1].map(formatPercent)).toEqual(['0%', '<1%', '50%', '>99%', '100%'])
})

test('a difference that is not 0 does not look like 0', () => {
  expect([0, 0.125, -0.05, 0.0004, -0.00001].map(formatPoints)).toEqual([
    '0',
    '+12.5',
    '-5',
    '+0.04',
    '-0.001',
  ])
})

test('an interval is widened to whole percents, never narrowed', () => {
  expect(formatInterval({ low: 0.2077, high: 0.9385 })).toBe('20-94%')
  expect(formatRate({ value: 2 / 3, low: 0.2077, high: 0.9385, n: 3 })).toBe('67% (20-94%)')
  expect(formatRate({ value: null, low: 0, high: 1, n: 0 })).toBe('-')
})
