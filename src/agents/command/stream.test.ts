import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStreamParser } from './stream.ts'

test("Gantry events are accepted, without the agent's timestamp", () => {
  expect(
    push(
      { ts: 1, event: 'session', agent: 'mine', tools: ['sh', 3] },
      { ts: 2, event: 'message', text: 'hi' },
      { event: 'tool_call', tool: 'sh', command: 'ls' },
      { event: 'tool_result', output: 'x', exit_code: 1 },
      { event: 'hook', hook: 'Stop' },
      { event: 'output', text: 'noise', stream: 'stderr' },
    ).events,
  ).toEqual([
    { event: 'session', agent: 'mine', tools: ['sh'] },
    { event: 'message', role: 'assistant', text: 'hi' },
    { event: 'tool_call', tool: 'sh', command: 'ls' },
    { event: 'tool_result', output: 'x', exit_code: 1 },
    { event: 'hook', hook: 'Stop' },
    { event: 'output', text: 'noise', stream: 'stderr' },
  ])
})

test.each([
  { event: 'spawn', command: 'x', args: [] },
  { event: 'complete', exit_code: 0, duration_secs: 1, ending: 'exited' },
  { event: 'gate', passed: true },
  { event: 'usage', input_tokens: -5 },
  { event: 'usage', cost_usd: 'free' },
  { event: 'message', role: 'wizard', text: 'hi' },
  { event: 'error', reason: 'tired', message: 'x' },
  { event: 'tool_call' },
  { event: '__proto__' },
])('%j is kept as a raw line', (line) => {
  expect(push(line).events).toEqual([{ event: 'raw', line: JSON.stringify(line) }])
})

test('turns are messages, and calls that follow no message', () => {
  const { parser } = push(
    { event: 'message', text: 'a' },
    { event: 'tool_call', tool: 'x' },
    { event: 'tool_result', output: '' },
    { event: 'tool_call', tool: 'x' },
    { event: 'tool_call', tool: 'y' },
    { event: 'tool_result', output: '' },
    { event: 'message', text: 'sub', parent_id: 'p' },
    { event: 'message', text: 'b' },
  )
  expect(parser.turns()).toBe(3)
  expect(parser.end().finalText).toBe('b')
})

test('an error is a failure unless the agent continued after it', () => {
  const error = { event: 'error', reason: 'rate_limit', message: 'slow down' }
  expect(push(error).parser.end().failure).toEqual({ reason: 'rate_limit', message: 'slow down' })
  expect(push(error, { event: 'message', text: 'again' }).parser.end().failure).toBeNull()
})

test('any line yields exactly one event and none throws', () => {
  const event = fc.record(
    {
      event: fc.constantFrom(
        'session',
        'output',
        'message',
        'tool_call',
        'tool_result',
        'usage',
        'hook',
        'error',
        'raw',
      ),
      text: fc.jsonValue(),
      tool: fc.jsonValue(),
      agent: fc.jsonValue(),
      cost_usd: fc.jsonValue(),
      exit_code: fc.jsonValue(),
    },
    { requiredKeys: ['event'] },
  )
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          event.map((value) => JSON.stringify(value)),
          fc.json(),
          fc.string(),
        ),
      ),
      (lines) => {
        const parser = createStreamParser()
        for (const line of lines) expect(parser.push(line).length).toBe(line.trim() === '' ? 0 : 1)
        parser.end()
      },
    ),
  )
})

function push(...lines: readonly object[]) {
  const parser = createStreamParser()
  return { parser, events: lines.flatMap((line) => parser.push(JSON.stringify(line))) }
}
