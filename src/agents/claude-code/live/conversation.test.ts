import { expect, test } from 'vitest'
import { createApiClock } from './conversation.ts'

const result = (duration_api_ms: unknown) => ({ type: 'result', duration_api_ms })

test.each([
  ['a total that continues', [result(10), result(25)], 25],
  ['a total that restarts with a notice', [result(10), { type: 'conversation_reset' }, result(15)], 25],
  ['a total that restarts without a notice', [result(20), result(5)], 25],
  ['a result without a total', [result(25), result(undefined), result('x')], 25],
])('%s', (_, lines, totalMs) => {
  const clock = createApiClock()
  for (const line of lines) clock.see(line)
  expect(clock.totalMs()).toBe(totalMs)
})
