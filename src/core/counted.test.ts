import { expect, it } from 'vitest'
import { counted, formatCount } from './counted.ts'

it('uses the singular for one and the plural for every other count', () => {
  expect([0, 1, 2, 1_200].map((count) => counted(count, 'trial'))).toEqual([
    '0 trials',
    '1 trial',
    '2 trials',
    '1,200 trials',
  ])
  expect(counted(2, 'try', 'tries')).toBe('2 tries')
})

it('sets a comma at every thousand', () => {
  expect([999, 1_000, 1_234_567].map(formatCount)).toEqual(['999', '1,000', '1,234,567'])
})
