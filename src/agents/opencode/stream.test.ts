import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeStreamParser } from '../stream.conformance.ts'
import { createStreamParser } from './stream.ts'

describeStreamParser('opencode', createStreamParser, join(import.meta.dirname, 'fixtures'))

describe('the opencode stream', () => {
  test.each([
    [{ message: 'Incorrect API key', statusCode: 401 }, 'auth'],
    [{ message: 'slow down', statusCode: 429 }, 'rate_limit'],
    [{ message: 'no such model', statusCode: 404 }, 'unavailable'],
    [{ message: 'Connection reset by server' }, 'unavailable'],
    [{ message: "This model's maximum context length is 10", statusCode: 400 }, 'context'],
    [{}, 'unavailable'],
  ])('the error %j is %s', (data, reason) => {
    expect(play({ type: 'error', error: { name: 'APIError', data } }).end.failure?.reason).toBe(reason)
  })

  test('an error after which the model answered is not a failure', () => {
    const error = { type: 'error', error: { name: 'APIError', data: { message: 'x' } } }
    expect(play(error, { type: 'text', part: { text: 'Here.' } }).end.failure).toBeNull()
  })

  test('a retried step is one turn', () => {
    const start = { type: 'step_start', part: { messageID: 'm' } }
    expect(play(start, start, { type: 'step_start', part: { messageID: 'n' } }).turns).toBe(2)
  })

  test('a cost is reported where opencode knows the price, and zero is not a price', () => {
    const finish = (id: string, cost: number) => ({
      type: 'step_finish',
      part: { id, cost, tokens: { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } } },
    })
    expect(play(finish('a', 0)).end.costUsd).toBeNull()
    const { end } = play(finish('a', 0.25), finish('b', 0.5), finish('b', 0.5))
    expect(end.costUsd).toBe(0.75)
    expect(end.tokens).toMatchObject({ input: 2, output: 10, cacheRead: 8, cacheWrite: 10 })
  })

  test('a failed tool reports the reason', () => {
    const state = { status: 'error', input: { filePath: 'x' }, error: 'File not found' }
    const { events } = play({ type: 'tool_use', part: { tool: 'read', callID: 'c', state } })
    expect(events).toEqual([
      { event: 'tool_call', id: 'c', tool: 'read', input: { filePath: 'x' } },
      { event: 'tool_result', id: 'c', output: 'File not found', is_error: true },
    ])
  })

  test('the session is reported once', () => {
    const line = { type: 'text', sessionID: 's', part: { text: 'x' } }
    expect(play(line, line).events.filter(({ event }) => event === 'session')).toHaveLength(1)
  })
})

function play(...lines: readonly object[]) {
  const parser = createStreamParser()
  const events = lines.flatMap((line) => parser.push(JSON.stringify(line)))
  return { events: events.filter(({ event }) => event !== 'raw'), end: parser.end(), turns: parser.turns() }
}
