import { createFixture } from 'fs-fixture'
import { expect, test, vi } from 'vitest'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { AgentRequest } from '../contract.ts'
import { agentSchema, createAgent } from '../index.ts'
import { type AgentDefinition, defineAgent, readAgentDefinition } from './define-agent.ts'
import { createPassedAgent } from './module.ts'

test('the agent gets the prompt, its workspace and the environment, and its reports are the log', async () => {
  const run = vi.fn<AgentDefinition['run']>(({ emit }) => {
    emit({ event: 'tool_call', id: '1', tool: 'Bash', command: 'make' })
    emit({ event: 'tool_result', id: '1', output: 'made', exit_code: 0 })
    emit({ event: 'usage', input_tokens: 10, output_tokens: 2, cost_usd: 0.5 })
    return 'Done.'
  })
  const { outcome, events, transcript } = await play({ version: '2', run })
  expect(run.mock.calls[0]?.[0]).toMatchObject({
    prompt: 'Do it.',
    workspace: '/work',
    model: 'default',
    env: { HOME: '/home' },
  })
  expect(events).toEqual([
    { event: 'spawn', command: 'module', args: ['mine'] },
    { event: 'session', agent: 'own', agent_version: '2', model: 'default' },
    { event: 'tool_call', id: '1', tool: 'Bash', command: 'make' },
    { event: 'tool_result', id: '1', output: 'made', exit_code: 0 },
    { event: 'usage', input_tokens: 10, output_tokens: 2, cost_usd: 0.5 },
    { event: 'message', role: 'assistant', text: 'Done.' },
    { event: 'complete', exit_code: 0, duration_secs: expect.any(Number), ending: 'exited' },
  ])
  expect(outcome).toMatchObject({
    ending: 'exited',
    exitCode: 0,
    finalText: 'Done.',
    costUsd: 0.5,
    tokens: { input: 10, output: 2 },
    failure: null,
    turns: 2,
  })
  expect(transcript).toContain('"command":"make"')
})

test('without a returned text the last message is the final text, and it is not reported twice', async () => {
  const said = await play({ run: ({ emit }) => emit({ event: 'message', role: 'assistant', text: 'Hi.' }) })
  expect(said.outcome.finalText).toBe('Hi.')
  const both = await play({
    run: ({ emit }) => {
      emit({ event: 'message', role: 'assistant', text: 'Hi.' })
      return { text: 'Hi.', exitCode: 3 }
    },
  })
  expect(both.events.filter(({ event }) => event === 'message')).toHaveLength(1)
  expect(both.outcome).toMatchObject({ ending: 'exited', exitCode: 3 })
})

test('an agent that throws has crashed, and its error is in the log', async () => {
  const { outcome, events } = await play({
    run: async () => {
      throw new RangeError('too far')
    },
  })
  expect(outcome).toMatchObject({
    ending: 'crashed',
    exitCode: null,
    failure: null,
    warnings: ['the agent threw RangeError: too far'],
  })
  expect(events).toContainEqual(
    expect.objectContaining({ event: 'output', stream: 'stderr', text: expect.stringContaining('too far') }),
  )
})

test.each([
  [{ text: 5n }, "the agent returned a 'text' that is not a string"],
  [{ exitCode: 1.5 }, "the agent returned an 'exitCode' that is not an integer"],
])('an agent that returns something else has crashed: %o', async (result, warning) => {
  const { outcome } = await play({ run: () => result as never })
  expect(outcome).toMatchObject({ ending: 'crashed', warnings: [warning] })
})

test('an error that the agent reports is an infrastructure failure', async () => {
  const { outcome } = await play({
    run: ({ emit }) => emit({ event: 'error', reason: 'rate_limit', message: 'slow down' }),
  })
  expect(outcome.failure).toEqual({ reason: 'rate_limit', message: 'slow down' })
})

test('an agent that obeys its signal is stopped at its time limit', async () => {
  const { outcome } = await play(
    { run: ({ signal }) => new Promise((stop) => signal.addEventListener('abort', () => stop())) },
    { timeoutMs: 20 },
  )
  expect(outcome).toMatchObject({ ending: 'timed_out', exitCode: null })
  expect(outcome.warnings).toBeUndefined()
})

test('an agent that ignores its signal is abandoned, and its later reports are dropped', async () => {
  vi.useFakeTimers()
  try {
    let late: (() => void) | undefined
    const running = play(
      {
        run: ({ emit }) => {
          late = () => emit({ event: 'message', role: 'assistant', text: 'late' })
          return new Promise(() => {})
        },
      },
      { timeoutMs: 20 },
    )
    await vi.advanceTimersByTimeAsync(3_000)
    const { outcome, events } = await running
    const count = events.length
    late?.()
    expect(events).toHaveLength(count)
    expect(outcome).toMatchObject({
      ending: 'timed_out',
      warnings: [expect.stringMatching(/did not stop when its signal was aborted/)],
    })
  } finally {
    vi.useRealTimers()
  }
})

test('a run that is cancelled before its start does not call the agent', async () => {
  const run = vi.fn<AgentDefinition['run']>()
  const { outcome } = await play({ run }, { signal: AbortSignal.abort() })
  expect(outcome.ending).toBe('cancelled')
  expect(run).not.toHaveBeenCalled()
})

test.each([
  ['over_budget', { maxCostUsd: 1 }],
  ['over_turns', { maxTurns: 2 }],
] as const)('the limit %s stops the agent by its reports', async (ending, limit) => {
  const { outcome } = await play(
    {
      async run({ emit, signal }) {
        while (!signal.aborted) {
          emit({ event: 'message', role: 'assistant', text: 'next' })
          emit({ event: 'usage', input_tokens: 1, output_tokens: 1, cost_usd: 0.6 })
          await new Promise(setImmediate)
        }
      },
    },
    limit,
  )
  expect(outcome).toMatchObject({ ending, failure: null })
})

test('an invalid event is kept unchanged', async () => {
  const { events } = await play({ run: ({ emit }) => emit({ event: 'complete' } as never) })
  expect(events).toContainEqual({ event: 'raw', line: '{"event":"complete"}' })
})

test('with a model boundary the environment names its address', async () => {
  const run = vi.fn<AgentDefinition['run']>()
  await play({ run }, { endpoint: { url: 'http://127.0.0.1:9', key: 'k' } })
  expect(run.mock.calls[0]?.[0].env).toMatchObject({
    ANTHROPIC_BASE_URL: expect.stringContaining('127.0.0.1'),
  })
})

test('an agent of gantry.yaml is loaded from its module, and a change of the module changes its fingerprint', async () => {
  await using fixture = await createFixture({
    'agent.mjs': 'export default { name: "own", version: "1", run: () => "hi" }\n',
  })
  const probe = () => agent('./agent.mjs', fixture.path).probe({ env: {} })
  const first = await probe()
  expect(first).toMatchObject({ found: true, version: '1' })
  await fixture.writeFile('agent.mjs', 'export default { name: "own", version: "1", run: () => "ho" }\n')
  expect((await probe()).fingerprint).not.toBe(first.fingerprint)
})

test('a missing module is not found, and a module without an agent is an error', async () => {
  await using fixture = await createFixture({ 'agent.mjs': 'export default { name: "own", runs() {} }\n' })
  expect(await agent('./none.mjs', fixture.path).probe({ env: {} })).toMatchObject({
    found: false,
    problem: 'the module ./none.mjs does not exist',
  })
  await expect(agent('./agent.mjs', fixture.path).probe({ env: {} })).rejects.toMatchObject({
    code: 'INVALID_FILE',
    message: "agent mine: the default export of ./agent.mjs is not an agent: it has no 'run'",
    hint: 'Write: export default defineAgent({ name, run }).',
  })
})

test('a definition without types is checked', () => {
  expect(readAgentDefinition({ name: '', run() {} })).toBe("its 'name' has the wrong type")
  expect(readAgentDefinition(() => {})).toBe('it is a function')
})

function agent(module: string, base: string) {
  return createAgent('mine', agentSchema.parse({ driver: 'module', module }), { base })
}

async function play(
  definition: Pick<AgentDefinition, 'run'> & Partial<AgentDefinition>,
  request: Partial<AgentRequest> = {},
) {
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const outcome = await createPassedAgent('mine', defineAgent({ name: 'own', ...definition })).run({
    prompt: 'Do it.',
    workspace: '/work',
    model: 'default',
    env: { HOME: '/home' },
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    transcript: (chunk) => chunks.push(chunk),
    ...request,
  })
  return { outcome, events, transcript: Buffer.concat(chunks).toString('utf8') }
}
