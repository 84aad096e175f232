import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import { type Boundary, endpointVariables } from '../../models/boundary/contract.ts'
import { openBoundary } from '../../models/boundary/open-boundary.ts'
import { createScriptResponder } from '../../models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../../models/boundary/script/schema.ts'
import { createBudget } from '../../models/budget.ts'
import { resolveModel } from '../../models/index.ts'
import type { AgentOutcome, AgentRequest, ModelOpener } from '../contract.ts'
import { createBuiltinAgent } from './builtin.ts'
import { builtinAgentSchema } from './schema.ts'

// The loop, the provider's client and the protocol are real; the model is a script behind the boundary.
let boundary: Boundary
beforeAll(async () => {
  boundary = await openBoundary()
})
const fixtures: FsFixture[] = []
afterAll(async () => {
  await boundary.close()
  for (const fixture of fixtures) await fixture.rm()
})

test('the work happens in the workspace and is reported as events', async () => {
  const played = await play({
    turns: [
      { thinking: 'Hm.', text: 'Looking.', calls: [{ run: 'echo made > made.txt; echo seen' }] },
      { calls: [{ write: { path: 'deep/f.txt', content: 'old\n' } }, { run: 'echo broken; exit 3' }] },
      { calls: [{ edit: { path: 'deep/f.txt', old: 'old', new: 'new' } }, { read: { path: 'none' } }] },
      { text: 'All done.', usage: { input_tokens: 100, output_tokens: 10 } },
    ],
  })
  expect(played.outcome).toMatchObject({
    ending: 'exited',
    exitCode: 0,
    finalText: 'All done.',
    failure: null,
  })
  expect(played.read('made.txt')).toBe('made\n')
  expect(played.read('deep/f.txt')).toBe('new\n')
  expect(only(played.events, 'session')).toMatchObject([
    {
      agent: 'builtin',
      model: 'anthropic:some-model',
      tools: ['read', 'list', 'search', 'write', 'edit', 'run'],
    },
  ])
  const calls = only(played.events, 'tool_call')
  const results = only(played.events, 'tool_result')
  expect(calls.map(({ tool, command }) => [tool, command])).toEqual([
    ['run', 'echo made > made.txt; echo seen'],
    ['write', undefined],
    ['run', 'echo broken; exit 3'],
    ['edit', undefined],
    ['read', undefined],
  ])
  expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
  expect(results.map(({ exit_code }) => exit_code)).toEqual([0, undefined, 3, undefined, undefined])
  expect(results.map(({ is_error }) => is_error ?? false)).toEqual([false, false, true, false, true])
  expect(only(played.events, 'message').map(({ role, text }) => [role, text])).toEqual([
    ['thinking', 'Hm.'],
    ['assistant', 'Looking.'],
    ['assistant', 'All done.'],
  ])
  expect(only(played.events, 'usage')).toHaveLength(4)
  expect(only(played.events, 'usage').at(-1)).toMatchObject({ input_tokens: 100, output_tokens: 10 })
})

test.each(['anthropic:some-model', 'openai:some-model', 'google:some-model'])(
  'the same work is done with %s',
  async (model) => {
    const { outcome, read, events } = await play(
      {
        turns: [
          { text: 'Now.', calls: [{ run: 'echo made > made.txt' }, { run: 'exit 3' }] },
          { calls: [{ edit: { path: 'made.txt', old: 'made', new: 'changed' } }] },
          { text: 'All done.' },
        ],
      },
      { model },
    )
    expect(outcome).toMatchObject({ ending: 'exited', finalText: 'All done.', failure: null })
    expect(read('made.txt')).toBe('changed\n')
    expect(only(events, 'tool_result').map(({ exit_code }) => exit_code)).toEqual([0, 3, undefined])
    expect(only(events, 'usage').map((usage) => usage.model)).toEqual([model, model, model])
  },
)

test('the transcript is one JSON line per step, with the prompt first', async () => {
  const prompt = `"quoted" \n ünï 🦀 ${'long '.repeat(1_000)}`
  const { transcript } = await play({ turns: [{ calls: [{ run: 'true' }] }, { text: 'ok' }] }, { prompt })
  const lines = transcript
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toEqual({ kind: 'prompt', model: 'anthropic:some-model', text: prompt })
  expect(lines.map(({ kind }) => kind)).toEqual([
    'prompt',
    'usage',
    'tool_call',
    'tool_result',
    'text',
    'usage',
  ])
})

test('the prompt, the workspace and further instructions reach the model', async () => {
  const rules = [
    { when: { last_message: 'say the word', system: 'Answer in Latin.' }, turns: [{ text: 'Ita.' }] },
  ]
  const { outcome } = await play(
    { turns: [{ text: 'no' }], rules },
    { prompt: 'Now say the word.' },
    { instructions: 'Answer in Latin.' },
  )
  expect(outcome.finalText).toBe('Ita.')
})

test('the instructions leave it to the task whether there is a way to ask', async () => {
  const rules = [{ when: { system: 'only where the task says how to ask' }, turns: [{ text: 'Yes.' }] }]
  const { outcome } = await play({ turns: [{ text: 'no' }], rules })
  expect(outcome.finalText).toBe('Yes.')
})

test('commands see exactly the given environment', async () => {
  const { read, request } = await play({ turns: [{ calls: [{ run: 'env > env.txt' }] }, { text: 'ok' }] })
  const seen = Object.fromEntries(
    read('env.txt')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  )
  for (const own of ['PWD', 'OLDPWD', 'SHLVL', '_', 'GANTRY_EXEC_ID']) delete seen[own]
  expect(seen).toEqual(request.env)
})

test('a tool that a hook denies is not used, and the model gets the reason; the others are reported', async () => {
  const reported: unknown[] = []
  const { outcome, events, exists } = await play(
    { turns: [{ calls: [{ run: 'touch a' }, { run: 'exit 2' }] }, { text: 'ok' }] },
    {
      hooks: {
        beforeTool: async ({ input }) =>
          JSON.stringify(input).includes('touch')
            ? { kind: 'deny', reason: 'no touching' }
            : { kind: 'allow' },
        afterTool: async (result) => void reported.push(result),
      },
    },
  )
  expect(exists('a')).toBe(false)
  expect(only(events, 'tool_result')[0]).toMatchObject({ output: 'no touching', is_error: true })
  expect(reported).toEqual([
    {
      id: expect.any(String),
      tool: 'run',
      input: expect.objectContaining({ command: 'exit 2' }),
      output: '[exit code 2]',
      exitCode: 2,
      isError: true,
    },
  ])
  expect(outcome.ending).toBe('exited')
})

test('context from hooks reaches the model: at the start in the system prompt, later with the output', async () => {
  const rules = [
    { when: { system: 'a map of the project' }, turns: [{ calls: [{ run: 'true' }] }] },
    { when: { last_message: 'you are in a loop' }, turns: [{ text: 'heard both' }] },
  ]
  const hooks = { begin: async () => 'a map of the project', afterTool: async () => 'you are in a loop' }
  const { outcome } = await play({ turns: [{ text: 'heard nothing' }], rules: rules.toReversed() }, { hooks })
  expect(outcome.finalText).toBe('heard both')
})

test('a failing hook prevents the tool from being used', async () => {
  const hooks = { beforeTool: () => Promise.reject(new Error('hook broke')) }
  const { exists, events } = await play(
    { turns: [{ calls: [{ run: 'touch a' }] }, { text: 'ok' }] },
    { hooks },
  )
  expect(exists('a')).toBe(false)
  expect(only(events, 'tool_result')[0]).toMatchObject({ output: 'hook broke', is_error: true })
})

test('an agent whose stop is refused continues with the given reason', async () => {
  let asked = 0
  const { outcome, events } = await play(
    {
      turns: [{ text: 'done?' }, { text: 'really done' }],
      rules: [{ when: { last_message: 'run the tests' }, turns: [{ text: 'ran them' }] }],
    },
    {
      hooks: {
        beforeStop: async () => {
          asked += 1
          return asked === 1 ? { kind: 'refuse', reason: 'run the tests first' } : { kind: 'allow' }
        },
      },
    },
  )
  expect(outcome).toMatchObject({ ending: 'exited', finalText: 'ran them' })
  expect(events).toContainEqual({ event: 'message', role: 'system', text: 'run the tests first' })
})

test('time, turns, money and a cancellation end it, and no process is left', async () => {
  const hanging = { turns: [{ calls: [{ run: 'echo $$ > pid; exec sleep 300' }] }] }
  const late = await play(hanging, { timeoutMs: 600 })
  expect(late.outcome).toMatchObject({ ending: 'timed_out', exitCode: null, failure: null })
  const stop = new AbortController()
  const cancelled = await play(hanging, { signal: stop.signal }, {}, async (exists) => {
    while (!exists('pid')) await new Promise((resolve) => setTimeout(resolve, 5))
    stop.abort()
  })
  expect(cancelled.outcome).toMatchObject({ ending: 'cancelled', failure: null })
  for (const { read, exists } of [late, cancelled])
    if (exists('pid')) expect(isAlive(Number(read('pid')))).toBe(false)
  const capped = new AbortController()
  const counted = await play(hanging, { signal: capped.signal }, {}, async (exists) => {
    while (!exists('pid')) await new Promise((resolve) => setTimeout(resolve, 5))
    capped.abort('over_budget')
  })
  expect(counted.outcome.ending).toBe('over_budget')
  const endless = { turns: [{ calls: [{ run: 'true' }] }] }
  const many = await play(endless, { maxTurns: 3 }, { max_turns: 9 })
  expect(many.outcome).toMatchObject({ ending: 'over_turns', exitCode: null, failure: null })
  expect(only(many.events, 'usage')).toHaveLength(3)
  expect((await play(endless, {}, { max_turns: 2 })).outcome.ending).toBe('over_turns')
})

test('a model that exceeds the cost limit is not called again', async () => {
  const turn = { calls: [{ run: 'true' }], usage: { input_tokens: 0, output_tokens: 400_000 } }
  const within = await play(
    { turns: [turn, { text: 'ok', usage: { input_tokens: 0, output_tokens: 0 } }] },
    { maxCostUsd: 1 },
  )
  expect(within.outcome).toMatchObject({ ending: 'exited', costUsd: 0.4 })
  const over = await play({ turns: [turn] }, { maxCostUsd: 1 })
  expect(over.outcome).toMatchObject({ ending: 'over_budget', exitCode: null, failure: null })
  expect(over.outcome.costUsd).toBeGreaterThan(0.7)
})

test('a failure of the model is an infrastructure failure, and a temporary one is retried', async () => {
  const failed = await play({ turns: [{ error: { status: 401, message: 'bad key' } }] })
  expect(failed.outcome).toMatchObject({ ending: 'exited', exitCode: 1, failure: { reason: 'auth' } })
  expect(only(failed.events, 'error')).toMatchObject([{ reason: 'auth' }])
  const recovered = await play({
    turns: [{ error: { status: 429, message: 'slow down', retry_after_secs: 0, times: 1 } }, { text: 'ok' }],
  })
  expect(recovered.outcome).toMatchObject({ ending: 'exited', finalText: 'ok', failure: null })
})

test('errors in tool calls are reported to the model', async () => {
  const { events, outcome } = await play({
    turns: [
      { calls: [{ tool: { name: 'fly', input: {} } }, { tool: { name: 'run', input: { cmd: 'ls' } } }] },
      { text: 'ok' },
    ],
  })
  expect(outcome.ending).toBe('exited')
  const [unknown, bad] = only(events, 'tool_result')
  expect(unknown).toMatchObject({ is_error: true, output: expect.stringContaining('There is no tool') })
  expect(bad).toMatchObject({ is_error: true, output: expect.stringContaining('does not fit') })
})

test('without access to a model it does not start, and reports what is missing', async () => {
  const agent = createBuiltinAgent({ name: 'mine', config: config({}), openModel: opener({}) })
  expect(await agent.probe({ env: {} })).toMatchObject({
    found: true,
    authenticated: false,
    problem: expect.stringMatching(/cannot proceed without model access.*ANTHROPIC_API_KEY/),
  })
  expect(await agent.probe({ env: { ANTHROPIC_API_KEY: 'k' } })).toMatchObject({ authenticated: true })
  const { outcome, events } = await run(agent, await createFixture({}), {})
  expect(outcome).toMatchObject({ ending: 'not_started', failure: { reason: 'unavailable' } })
  expect(events.map(({ event }) => event)).toEqual(['spawn', 'complete'])
})

test('an agent that is cancelled before its start does nothing', async () => {
  const { outcome, exists } = await play(
    { turns: [{ calls: [{ run: 'touch a' }] }] },
    { signal: AbortSignal.abort() },
  )
  expect(outcome).toMatchObject({ ending: 'cancelled', failure: null })
  expect(exists('a')).toBe(false)
})

test('the fingerprint depends on every setting that changes its behaviour', async () => {
  const of = async (settings: object) =>
    (
      await createBuiltinAgent({ name: 'a', config: config(settings), openModel: opener({}) }).probe({
        env: {},
      })
    ).fingerprint
  expect(await of({})).toBe(await of({}))
  const others = [{ instructions: 'x' }, { model: 'openai:y' }, { max_turns: 3 }, { env: { A: 'b' } }]
  expect(new Set(await Promise.all([{}, ...others].map(of))).size).toBe(5)
})

const prices = { 'some-model': { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } }

function opener(extra: Readonly<Record<string, string>>): ModelOpener {
  return (name, { env, endpoint, maxCostUsd }) =>
    resolveModel(name, {
      env: { ...env, ...extra, ...(endpoint !== undefined && endpointVariables(endpoint)) },
      base: '/',
      prices,
      budget: createBudget(maxCostUsd ?? null),
      sleep: async () => {},
    })
}

function config(settings: object) {
  return builtinAgentSchema.parse({ driver: 'builtin', ...settings })
}

async function play(
  script: object,
  request: Partial<AgentRequest> = {},
  settings: object = {},
  during?: (exists: (path: string) => boolean) => Promise<void>,
) {
  const fixture = await createFixture({})
  const responder = createScriptResponder(boundaryScriptSchema.parse(script), { workspace: fixture.path })
  const session = boundary.open({ responder })
  const agent = createBuiltinAgent({
    name: 'mine',
    config: config({ model: 'anthropic:some-model', ...settings }),
    openModel: opener({}),
  })
  const played = await run(agent, fixture, { endpoint: session.endpoint, ...request }, during)
  await session.close()
  return played
}

async function run(
  agent: ReturnType<typeof createBuiltinAgent>,
  fixture: FsFixture,
  extra: Partial<AgentRequest>,
  during?: (exists: (path: string) => boolean) => Promise<void>,
): Promise<Played> {
  fixtures.push(fixture)
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const exists = (path: string): boolean => existsSync(join(fixture.path, path))
  const request: AgentRequest = {
    prompt: 'Do it.',
    workspace: fixture.path.replace(/\/$/, ''),
    model: 'default',
    env: { PATH: process.env.PATH ?? '', HOME: fixture.path, GIVEN: 'exactly = this' },
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
    transcript: (chunk) => void chunks.push(chunk),
    ...extra,
  }
  const [outcome] = await Promise.all([agent.run(request), during?.(exists)])
  expect(events[0]?.event).toBe('spawn')
  expect(events.filter(({ event }) => event === 'complete')).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({
    event: 'complete',
    ending: outcome.ending,
    exit_code: outcome.exitCode,
  })
  return {
    outcome,
    events,
    request,
    transcript: Buffer.concat(chunks).toString('utf8'),
    exists,
    read: (path) => readFileSync(join(fixture.path, path), 'utf8'),
  }
}

interface Played {
  readonly outcome: AgentOutcome
  readonly events: readonly Untimed<AgentEvent>[]
  readonly request: AgentRequest
  readonly transcript: string
  exists(path: string): boolean
  read(path: string): string
}

function only<Kind extends AgentEvent['event']>(events: readonly Untimed<AgentEvent>[], kind: Kind) {
  return events.filter(
    (event): event is Extract<Untimed<AgentEvent>, { event: Kind }> => event.event === kind,
  )
}

/** A zombie is not alive. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}
