import { expect, test } from 'vitest'
import { firedAt } from './trigger-reason.ts'

test('a moment is the time of day and the call, as far as either is known', () => {
  const timestamp = Date.UTC(2026, 10, 15, 12, 30, 5, 42)
  expect(firedAt({ timestamp, tool_use_id: 'toolu_1' })).toBe(' at 12:30:05.042Z, call toolu_1')
  expect(firedAt({ timestamp })).toBe(' at 12:30:05.042Z')
  expect(firedAt({ timestamp: 3, tool_use_id: 'toolu_1' })).toBe(' at call toolu_1')
  expect(firedAt({ timestamp: 3, tool_use_id: '' })).toBe('')
})

test.each([Number.NaN, Infinity, -1, 8.64e15 + 1])('%d is not a time', (timestamp) => {
  expect(firedAt({ timestamp })).toBe('')
})
