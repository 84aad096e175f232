import { expect, test } from 'vitest'
import { classifyFailure } from './failure.ts'

test.each([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'unavailable'],
  [408, 'timeout'],
  [413, 'context'],
  [422, 'malformed'],
  [429, 'rate_limit'],
  [500, 'unavailable'],
  [503, 'overloaded'],
  [529, 'overloaded'],
])('status %i is %s, given as a number or in words', (status, reason) => {
  expect(classifyFailure('', status)).toBe(reason)
  expect(classifyFailure(`HTTP status ${status}`)).toBe(reason)
})

test.each(['', 'I could not finish the task.', 'The test printed 404 lines.', 'Exit code 1'])(
  '%j points at nothing but the agent',
  (text) => {
    expect(classifyFailure(text)).toBeNull()
  },
)
