import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeStreamParser } from '../stream.conformance.ts'
import { createStreamParser } from './stream.ts'

describeStreamParser('claude-code', createStreamParser, join(import.meta.dirname, 'fixtures'))

describe('the claude-code stream', () => {
  test.each([
    [401, 'Invalid API key · Please run /login', 'auth'],
    [429, "You've hit your session limit · resets 3:45pm", 'rate_limit'],
    [
      529,
      'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      'overloaded',
    ],
    [500, 'API Error: 500 {"type":"error"}', 'unavailable'],
    [400, 'Prompt is too long', 'context'],
    [400, 'API Error: 400 something else', 'malformed'],
    [null, 'API Error: Connection error.', 'unavailable'],
  ])('an API failure of subtype success with status %s is %s → %s', (api_error_status, result, reason) => {
    const { events, end } = play({
      ...resultLine,
      is_error: true,
      api_error_status,
      result,
      terminal_reason: 'api_error',
    })
    expect(end.failure).toEqual({ reason, message: result })
    expect(events).toContainEqual({ event: 'error', reason, message: result })
  })

  test('a user-set limit is not an infrastructure failure', () => {
    const { end } = play({ ...resultLine, subtype: 'error_max_turns', is_error: true })
    expect(end.failure).toBeNull()
  })

  test('an interruption without an API error is not an infrastructure failure', () => {
    const { end } = play({
      ...resultLine,
      subtype: 'error_during_execution',
      is_error: true,
      result: undefined,
    })
    expect(end.failure).toBeNull()
  })

  test('a retry that is still pending is a failure, one that succeeded is not', () => {
    const retry = { type: 'system', subtype: 'api_retry', attempt: 1, error_status: 429, error: 'rate_limit' }
    expect(play(retry).end.failure).toMatchObject({ reason: 'rate_limit' })
    expect(play(retry, assistantLine('m1', text('hi'))).end.failure).toBeNull()
  })

  test('a failed first turn with a successful second one is not a failure', () => {
    const failed = { ...resultLine, is_error: true, api_error_status: 529, result: 'Overloaded' }
    expect(play(failed, { ...resultLine, result: 'ok' }).end).toMatchObject({
      failure: null,
      finalText: 'ok',
    })
  })

  test('a refusal of the model is reported', () => {
    expect(play({ ...resultLine, stop_reason: 'refusal', result: 'no' }).end.failure?.reason).toBe('refused')
  })

  test('the usage of a message with several blocks counts once, at its largest', () => {
    const parser = createStreamParser()
    const usage = (output_tokens: number) => ({ input_tokens: 10, output_tokens, cache_read_input_tokens: 5 })
    for (const output of [1, 1, 30])
      parser.push(JSON.stringify(assistantLine('m1', text('x'), usage(output))))
    expect(parser.usage().tokens).toEqual({ input: 10, output: 30, cacheRead: 5, cacheWrite: 0 })
    expect(parser.turns()).toBe(1)
  })

  test('without modelUsage each result has the usage of its own turn', () => {
    const usage = { input_tokens: 100, output_tokens: 20 }
    const { end } = play(
      { ...resultLine, usage, total_cost_usd: 0.1 },
      { ...resultLine, usage, total_cost_usd: 0.3 },
    )
    expect(end.tokens).toEqual({ input: 200, output: 40, cacheRead: 0, cacheWrite: 0 })
    expect(end.costUsd).toBeCloseTo(0.3)
  })

  test.each([
    ['says so', [{ type: 'conversation_reset' }, { total_cost_usd: 0, modelUsage: {} }]],
    ['shrinks', []],
  ])('a total that restarts is not lost: it %s', (_, between) => {
    const usage = (outputTokens: number, costUSD: number) => ({
      total_cost_usd: costUSD,
      modelUsage: { m: { inputTokens: 10, outputTokens, costUSD } },
    })
    const { end } = play(
      assistantLine('m1', text('x'), { input_tokens: 10, output_tokens: 1 }),
      { ...resultLine, ...usage(5, 0.5) },
      ...between.map((line) => ({ ...resultLine, ...line })),
      assistantLine('m2', text('x'), { input_tokens: 10, output_tokens: 1 }),
      { ...resultLine, ...usage(7, 0.25) },
    )
    expect(end).toMatchObject({ costUsd: 0.75, tokens: { input: 20, output: 12 } })
  })

  test('tokens without a price restart too', () => {
    const usage = { total_cost_usd: 0, modelUsage: { m: { inputTokens: 10, outputTokens: 5, costUSD: 0 } } }
    const { end } = play(
      { ...resultLine, ...usage },
      { type: 'conversation_reset' },
      { ...resultLine, ...usage },
    )
    expect(end.tokens).toMatchObject({ input: 20, output: 10 })
  })

  test('an id that is reused in the next conversation is another call', () => {
    const used = assistantLine('m1', { type: 'tool_use', id: 't1', name: 'Bash', input: {} })
    const init = (session_id: string) => ({ type: 'system', subtype: 'init', session_id })
    const calls = (...sessions: readonly string[]) =>
      play(...sessions.flatMap((id) => [init(id), used])).events.filter(({ event }) => event === 'tool_call')
    expect(calls('one', 'one').length).toBe(1)
    expect(calls('one', 'two').length).toBe(2)
  })

  test('skills, subagents and commands are in the session event', () => {
    const init = { type: 'system', subtype: 'init', skills: ['s'], agents: ['a'], slash_commands: ['c', 7] }
    expect(play(init).events).toMatchObject([{ skills: ['s'], agents: ['a'], commands: ['c'] }])
    expect(play({ type: 'system', subtype: 'init' }).events[0]).not.toHaveProperty('skills')
  })

  test('plugin errors and disconnected servers are in the session event', () => {
    const { events } = play({
      type: 'system',
      subtype: 'init',
      plugins: [{ name: 'demo' }],
      plugin_errors: [{ plugin: 'demo', message: 'broken hook' }],
      mcp_servers: [
        { name: 'good', status: 'connected' },
        { name: 'bad', status: 'failed' },
      ],
    })
    expect(events).toMatchObject([
      {
        event: 'session',
        plugins: ['demo'],
        plugin_errors: ['{"plugin":"demo","message":"broken hook"}'],
        mcp_servers: ['good', 'bad (failed)'],
      },
    ])
  })

  test('a plugin that did not load makes the run invalid, and is named', () => {
    const init = { type: 'system', subtype: 'init' }
    const error = { plugin: 'inline[0]', message: 'no manifest', path: '/plugins/demo' }
    expect(play({ ...init, plugin_errors: [error, 'odd'] }, { ...init }).end.invalid).toBe(
      'a plugin did not load: /plugins/demo: no manifest; odd',
    )
    expect(play({ ...init, plugin_errors: [] }).end).not.toHaveProperty('invalid')
  })

  test.each([
    ['error_max_turns', 'over_turns'],
    ['error_max_budget_usd', 'over_budget'],
  ])('a limit at which it stopped by itself is reported: %s', (subtype, passed) => {
    expect(play({ ...resultLine, subtype, is_error: true }).end).toMatchObject({ passed, failure: null })
    expect(play({ ...resultLine, subtype, is_error: true }, resultLine).end).not.toHaveProperty('passed')
  })

  test('a hook is reported when it starts and when it ends', () => {
    const hook = { type: 'system', hook_event: 'Stop', hook_name: 'Stop' }
    expect(
      play(
        { ...hook, subtype: 'hook_started' },
        { ...hook, subtype: 'hook_response', outcome: 'error', exit_code: 2 },
      ).events,
    ).toEqual([
      { event: 'hook', hook: 'Stop', name: 'Stop', outcome: 'started' },
      { event: 'hook', hook: 'Stop', name: 'Stop', outcome: 'error', exit_code: 2 },
    ])
  })

  test('the usage of several models is reported for each, with its own cost', () => {
    const usage = { input_tokens: 10, output_tokens: 1 }
    const counts = (outputTokens: number, costUSD: number) => ({ inputTokens: 10, outputTokens, costUSD })
    const { events, end } = play(
      assistantLine('m1', text('x'), usage),
      {
        ...resultLine,
        total_cost_usd: 0.75,
        modelUsage: { 'm[1m]': { ...counts(30, 0.5), thinkingTokens: 7 }, small: counts(5, 0.25) },
      },
      { ...resultLine, total_cost_usd: 1, modelUsage: { 'm[1m]': counts(40, 0.75), small: counts(5, 0.25) } },
    )
    const none = { event: 'usage', input_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 }
    expect(events.filter(({ event }) => event === 'usage').slice(1)).toEqual([
      { ...none, model: 'm', output_tokens: 29, thinking_tokens: 7, cost_usd: 0.5 },
      { ...none, model: 'small', input_tokens: 10, output_tokens: 5, cost_usd: 0.25 },
      { ...none, model: 'm', output_tokens: 10, cost_usd: 0.25 },
    ])
    expect(end).toMatchObject({ costUsd: 1, tokens: { input: 20, output: 45 } })
  })

  test('models that cannot be distinguished still add up to the reported total', () => {
    const { end } = play(assistantLine('m1', text('x'), { input_tokens: 10, output_tokens: 1 }), {
      ...resultLine,
      total_cost_usd: 1,
      modelUsage: { a: { inputTokens: 6, outputTokens: 2 }, b: { inputTokens: 6, outputTokens: 2 } },
    })
    expect(end).toMatchObject({ costUsd: 1, tokens: { input: 12, output: 4 } })
  })

  test('a denial without a result is reported at the end', () => {
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }
    const { events } = play(assistantLine('m1', call), {
      ...resultLine,
      permission_denials: [{ tool_use_id: 't1' }],
    })
    expect(events).toContainEqual({
      event: 'tool_result',
      id: 't1',
      output: 'The call was denied.',
      is_error: true,
    })
  })

  test.each([
    ['an accepted exit code', { returnCodeInterpretation: 'No matches found' }],
    ['a command in the background', { backgroundTaskId: 'b1' }],
    ['an interrupted command', { interrupted: true }],
  ])('%s has no known exit code', (_, tool_use_result) => {
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'grep x y' } }
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'out', is_error: false }
    const { events } = play(assistantLine('m1', call), {
      type: 'user',
      message: { content: [result] },
      tool_use_result,
    })
    expect(events.at(-1)).toEqual({ event: 'tool_result', id: 't1', output: 'out', is_error: false })
  })

  test('messages of Claude Code itself are not a turn of the model and cost nothing', () => {
    const parser = createStreamParser()
    const line = assistantLine('m1', text('API Error'), { input_tokens: 9, output_tokens: 9 })
    parser.push(JSON.stringify({ ...line, message: { ...line.message, model: '<synthetic>' } }))
    expect(parser.turns()).toBe(0)
    expect(parser.usage().tokens).toBeNull()
  })
})

const resultLine = { type: 'result', subtype: 'success', is_error: false }

function text(words: string) {
  return { type: 'text', text: words }
}

function assistantLine(id: string, block: object, usage?: object) {
  return { type: 'assistant', message: { id, model: 'm', content: [block], usage }, parent_tool_use_id: null }
}

function play(...lines: readonly object[]) {
  const parser = createStreamParser()
  const events = lines.flatMap((line) => parser.push(JSON.stringify(line)))
  return { events, end: parser.end() }
}
