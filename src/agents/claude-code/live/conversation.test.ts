import { expect, test } from 'vitest'
import { createApiClock } from './conversation.ts'

const result = (duration_api_ms: unknown) => ({ type: 'result', duration_api_ms })

test.each([
  ['a total that goes on', [result(10), result(25)], 25],
  ['a total that begins anew and says so', [result(10), { type: 'conversation_reset' }, result(15)], 25],
  ['a total that begins anew without a word', [result(20), result(5)], 25],
  ['a result that does not tell', [result(25), result(undefined), result('x')], 25],
])('%s', (_, lines, totalMs) => {
  const clock = createApiClock()
  for (const line of lines) clock.see(line)
  expect(clock.totalMs()).toBe(totalMs)
})
