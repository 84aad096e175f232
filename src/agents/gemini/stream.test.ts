import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeStreamParser } from '../stream.conformance.ts'
import { createStreamParser } from './stream.ts'

describeStreamParser('gemini', createStreamParser, join(import.meta.dirname, 'fixtures'))

describe('the gemini stream', () => {
  const piece = (content: string) => ({ type: 'message', role: 'assistant', content, delta: true })
  const call = (tool_id: string) => ({ type: 'tool_use', tool_name: 'read_file', tool_id, parameters: {} })
  const back = (tool_id: string) => ({ type: 'tool_result', tool_id, status: 'success', output: 'x' })

  test('pieces of text are one message', () => {
    const { events, end } = play(piece('All '), piece('do'), piece('ne.'), {
      type: 'result',
      status: 'success',
    })
    expect(events).toEqual([{ event: 'message', role: 'assistant', text: 'All done.' }])
    expect(end.finalText).toBe('All done.')
  })

  test('a text without an end is kept', () => {
    expect(play(piece('Half '), piece('of')).end.finalText).toBe('Half of')
  })

  test('an answer with several calls is one turn', () => {
    const { turns } = play(piece('a'), call('1'), call('2'), back('1'), back('2'), piece('done'))
    expect(turns).toBe(2)
  })

  test.each([
    ['[API Error: {"error":{"code":401,"status":"UNAUTHENTICATED"}}]', 'auth'],
    ['[API Error: Rate limit reached]', 'rate_limit'],
    ['[API Error: The model `nope` does not exist]', 'unavailable'],
    ['[API Error: terminated]', 'unavailable'],
  ])('ended with "%s" it is %s', (message, reason) => {
    const { end } = play({ type: 'result', status: 'error', error: { type: 'unknown', message } })
    expect(end.failure).toEqual({ reason, message })
  })

  test('an end for other reasons counts against the agent', () => {
    const message = 'Reached max session turns for this session.'
    const { events, end } = play({ type: 'result', status: 'error', error: { message } })
    expect(end.failure).toBeNull()
    expect(events).toEqual([{ event: 'message', role: 'system', text: message }])
  })

  test('a warning in between is not a failure', () => {
    const warning = { type: 'error', severity: 'warning', message: 'Loop detected, quota is fine' }
    expect(play(warning, { type: 'result', status: 'success' }).end.failure).toBeNull()
  })

  test('a failed tool reports the reason', () => {
    const failed = { type: 'tool_result', tool_id: '1', status: 'error', error: { message: 'no such file' } }
    expect(play(call('1'), failed).events.at(-1)).toEqual({
      event: 'tool_result',
      id: '1',
      output: 'no such file',
      is_error: true,
    })
  })

  test('usage is reported per model, with thinking as output', () => {
    const stats = {
      models: {
        pro: { total_tokens: 130, input_tokens: 100, output_tokens: 20, cached: 30 },
        flash: { total_tokens: 6, input_tokens: 5, output_tokens: 1, cached: 0 },
        idle: { total_tokens: 0, input_tokens: 0, output_tokens: 0, cached: 0 },
      },
    }
    const { events, end } = play({ type: 'result', status: 'success', stats })
    expect(events.map((event) => (event.event === 'usage' ? event.model : null))).toEqual(['pro', 'flash'])
    expect(end.tokens).toMatchObject({ input: 75, output: 31, cacheRead: 30 })
  })
})

function play(...lines: readonly object[]) {
  const parser = createStreamParser()
  const events = lines.flatMap((line) => parser.push(JSON.stringify(line)))
  return { events: events.filter(({ event }) => event !== 'raw'), end: parser.end(), turns: parser.turns() }
}
