import { expect, test } from 'vitest'
import { percentile } from './task-metrics.ts'

test('returns the nearest rank for any order', () => {
  const values = Array.from({ length: 100 }, (_, n) => 100 - n)
  expect([0.5, 0.95, 0.99, 1, 0].map((share) => percentile(values, share))).toEqual([50, 95, 99, 100, 1])
  expect(percentile([7], 0.5)).toBe(7)
  expect(percentile([], 0.5)).toBeNull()
})
