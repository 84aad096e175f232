import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TrialRecord } from '../../../src/core/trial.ts'
import { until } from '../robustness/lab.ts'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import {
  makeProject,
  type SmallProject,
  smallProject,
  smallScenario,
  type TestProject,
} from '../support/project.ts'
import { trialEvents, trialText } from '../support/trial-files.ts'
import { client, everythingIn, linesOf, post, savingModel, startBoundary } from './lab.ts'

const transcript = 'transcript.raw.txt'

interface Options extends Omit<SmallProject, 'config' | 'turns'> {
  readonly agent?: Record<string, unknown>
  readonly clientFlags?: readonly string[]
  readonly model?: unknown
}

/** One scenario and an agent that is a small program of ours, with a model that is a file. */
function project({
  agent = { model_script: 'model.yaml' },
  clientFlags = [],
  model = savingModel,
  ...rest
}: Options = {}) {
  const command = client(...clientFlags, '--stream', '{prompt}')
  return smallProject({
    config: { agents: { mine: { driver: 'command', command, ...agent } } },
    ...rest,
    files: { 'model.yaml': model, ...rest.files },
  })
}

/** An agent that is handed these variables of the caller, as one with a real key would be. */
const withProvider = { inherit_env: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY'], meter: 'always' }

/** A provider: another boundary with its own key. */
async function provider(place: TestProject, ...flags: string[]) {
  const server = await startBoundary(place, ['serve', '--script', 'model.yaml', ...flags])
  const env = { ANTHROPIC_BASE_URL: new URL(server.url).origin, ANTHROPIC_API_KEY: server.key }
  return { ...server, variables: env }
}

/** The events with everything that may differ between two runs replaced. */
function normalEvents(trial: TrialRecord): string {
  return trialText(trial, 'events.jsonl')
    .replaceAll(trial.dir, '<trial>')
    .replaceAll(/"by":"(?:record|replay)"/g, '"by":"cassette"')
    .replaceAll(/(?<="event":"model_call".*),"cost_usd":[\d.e-]+/g, '')
    .replaceAll(/"ts":[\d.]+/g, '"ts":0')
    .replaceAll(/"duration_secs":[\d.e-]+/g, '"duration_secs":0')
}

describe('a scripted model behind an agent of one’s own', () => {
  test('answers it: the gates pass, tokens are counted, nothing is paid', async () => {
    using place = project()
    const run = await gantryTest(place)
    const trial = onlyTrial(run)
    expect(trial).toMatchObject({ verdict: 'pass', costUsd: 0, tokens: { input: 3_000, output: 150 } })
    expect(run.summary).toMatchObject({ costUsd: 0, unmeteredTrials: 0 })
    expect(trialEvents(trial, 'usage')).toMatchObject([
      { model: 'claude-sonnet-5', input_tokens: 3_000, output_tokens: 150 },
    ])
    expect(trialText(trial, transcript)).toContain('It is written.')
  })

  test('with a mistake is reported with its place before anything runs', async () => {
    using place = project({ model: 'turns:\n  - text: a\n    tool: b\n' })
    const { code, stderr, stdout } = await gantry(place, ['test'])
    expect(code).toBe(2)
    expect(stderr).toContain('model.yaml:3:5')
    expect(stdout).toBe('')
    expect(existsSync(place.store)).toBe(false)
  })

  test('makes a trial that the cache knows, until the script changes', async () => {
    using place = project()
    await gantryTest(place)
    expect((await gantryTest(place)).summary.cached).toBe(1)
    place.write({ 'model.yaml': { turns: [{ text: 'I will not.' }] } })
    const changed = await gantryTest(place)
    expect(changed.summary.cached).toBe(0)
    expect(onlyTrial(changed).verdict).toBe('fail')
  })

  test('serves many trials at once, each with its own session', async () => {
    using place = project({ model: { ...savingModel, pick: 'sequence' } })
    const run = await gantryTest(place, ['--repeat', '8', '-j', '2', '--no-cache'])
    expect(run.summary.counts).toMatchObject({ pass: 8 })
    expect(run.trials.map(({ tokens }) => tokens?.input)).toEqual(Array.from({ length: 8 }, () => 3_000))
  })

  test('is broken by --fault, and an agent that does not try again fails', async () => {
    using place = project()
    const broken = onlyTrial(await gantryTest(place, ['--fault', '429@0', '--no-cache']))
    expect(broken.verdict).toBe('fail')
    expect(trialText(broken, transcript)).toContain('status 429')
    using patient = project({ clientFlags: ['--times', '2', '--ignore-errors'] })
    const tried = onlyTrial(await gantryTest(patient, ['--fault', '429@0']))
    expect(tried.verdict).toBe('pass')
    expect(trialEvents(tried, 'model_call')).toMatchObject([
      { index: 0, status: 429, by: 'fault', fault: 'status' },
      { index: 1, status: 200, by: 'script', input_tokens: 1_000, output_tokens: 100 },
      { index: 2, status: 200, by: 'script' },
    ])
    expect(trialText(tried, 'events.jsonl')).not.toMatch(/"event":"model_call".*"cost_usd"/)
  })

  test('and an unknown fault is bad usage', async () => {
    using place = project()
    const { code, stderr } = await gantry(place, ['test', '--fault', 'boom'])
    expect(code).toBe(2)
    expect(stderr).toContain("'boom' is not a valid fault")
  })
})

describe('record, then strict', () => {
  test('gives the same verdicts and the same events, twice, and pays nothing', async () => {
    using place = project({ agent: withProvider })
    const upstream = await provider(place)
    const made = await gantryTest(place, ['--replay', 'record', '--repeat', '2'], { env: upstream.variables })
    expect(made.summary.counts).toMatchObject({ pass: 2 })
    expect(made.summary.costUsd).toBeGreaterThan(0)
    await upstream.interrupt()
    const replayed = [
      await gantryTest(place, ['--replay', 'strict', '--repeat', '2']),
      await gantryTest(place, ['--replay', 'strict', '--repeat', '2', '--max-cost-usd', '0.0001']),
    ]
    for (const run of replayed) {
      expect(run.code).toBe(0)
      expect(run.summary).toMatchObject({ counts: { pass: 2 }, costUsd: 0, cached: 0 })
      expect(run.trials.map(normalEvents)).toEqual(made.trials.map(normalEvents))
      expect(run.trials.map(({ tokens }) => tokens)).toEqual(made.trials.map(({ tokens }) => tokens))
    }
    for (const directory of [place.path('cassettes'), place.store])
      expect(everythingIn(directory)).not.toContain(upstream.key)
    expect(made.stdout + made.stderr).not.toContain(upstream.key)
  })

  test('of a scripted model works too, into a directory of one’s own choice', async () => {
    using place = project()
    await gantryTest(place, ['--replay', 'record', '--cassettes', 'tapes'])
    expect(existsSync(place.path('tapes/case/mine-default/1/cassette.json'))).toBe(true)
    expect(existsSync(place.path('cassettes'))).toBe(false)
    place.write({ 'model.yaml': { turns: [{ text: 'I will not.' }] } })
    const strict = await gantryTest(place, ['--replay', 'strict', '--cassettes', 'tapes'])
    expect(onlyTrial(strict)).toMatchObject({ verdict: 'pass', costUsd: 0 })
  })

  test('with a changed prompt is invalid, and the reason shows the change', async () => {
    using place = project()
    await gantryTest(place, ['--replay', 'record'])
    place.write({ 'scenarios/case.yaml': smallScenario({ task: { prompt: 'Write done.txt now.' } }) })
    const run = await gantryTest(place, ['--replay', 'strict'])
    const trial = onlyTrial(run)
    expect(trial.verdict).toBe('invalid')
    expect(trial.reason).toMatch(/^-Write done\.txt\.$/m)
    expect(trial.reason).toMatch(/^\+Write done\.txt now\.$/m)
    expect(run.code).toBe(2)
    const shown = await gantry(place, ['test', '--replay', 'strict'])
    expect(shown.stdout).toContain('+Write done.txt now.')
  })

  test('without a cassette stops before the run, names what is missing and says how to make it', async () => {
    using place = project()
    await gantryTest(place, ['--replay', 'record'])
    place.write({ 'scenarios/new.yaml': smallScenario({ name: 'new' }) })
    const runs = readdirSync(join(place.store, 'runs'))
    const { code, stderr } = await gantry(place, ['test', '--replay', 'strict', '--repeat', '2'])
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /3 of 4 trials cannot be replayed, there is no cassette: cassettes\/new\/mine-default\/1, cassettes\/case\/mine-default\/2, .*\nhint: .*--replay auto/,
    )
    expect(readdirSync(join(place.store, 'runs'))).toEqual(runs)
    expect((await gantry(place, ['test', '--replay', 'strict', '--plan'])).code).toBe(2)
  })

  test.each([
    ['bad JSON', (dir: string) => ({ [`${dir}/0001.json`]: '{' })],
    ['another version', (dir: string) => ({ [`${dir}/cassette.json`]: '{"format":99,"gantry":"9.9.9"}' })],
  ])('with a cassette of %s is invalid and says so', async (_, damage) => {
    using place = project()
    await gantryTest(place, ['--replay', 'record'])
    place.write(damage('cassettes/case/mine-default/1'))
    const run = await gantryTest(place, ['--replay', 'strict'])
    expect(onlyTrial(run)).toMatchObject({ verdict: 'invalid' })
    expect(onlyTrial(run).reason).toMatch(/0001\.json|9\.9\.9/)
    expect(run.code).toBe(2)
  })

  test('does not take from the result cache, nor put into it', async () => {
    using place = project()
    await gantryTest(place, ['--replay', 'record'])
    expect((await gantryTest(place, ['--replay', 'strict'])).summary.cached).toBe(0)
    expect((await gantryTest(place)).summary.cached).toBe(0)
    expect((await gantryTest(place, ['--replay', 'strict'])).summary.cached).toBe(0)
  })

  test('keeps the old recording when the new one does not finish', async () => {
    using place = project()
    await gantryTest(place, ['--replay', 'record'])
    const before = everythingIn(place.path('cassettes'))
    place.write({ 'model.yaml': { turns: [{ text: 'late', delay_ms: 60_000 }] } })
    const run = await gantryTest(place, ['--replay', 'record', '--timeout', '2s'])
    expect(onlyTrial(run).ending).toBe('timed_out')
    expect(everythingIn(place.path('cassettes'))).toBe(before)
  })

  test('keeps names apart that differ only in characters a path cannot contain', async () => {
    using place = project({
      files: {
        'scenarios/a.yaml': smallScenario({ name: 'Same name' }),
        'scenarios/b.yaml': smallScenario({ name: 'same/name', task: { prompt: 'Another.' } }),
        'scenarios/c.yaml': smallScenario({ name: 'same-name', task: { prompt: 'A third.' } }),
      },
    })
    rmSync(place.path('scenarios/case.yaml'))
    await gantryTest(place, ['--replay', 'record', '-j', '2'])
    expect(readdirSync(place.path('cassettes')).length).toBe(3)
    const run = await gantryTest(place, ['--replay', 'strict'])
    expect(run.summary.counts).toMatchObject({ pass: 3 })
  })

  test('can be set with GANTRY_REPLAY, and the flag wins', async () => {
    using place = project()
    const env = { GANTRY_REPLAY: 'record' }
    await gantryTest(place, [], { env })
    expect(existsSync(place.path('cassettes'))).toBe(true)
    rmSync(place.path('cassettes'), { recursive: true })
    await gantryTest(place, ['--replay', 'off'], { env })
    expect(existsSync(place.path('cassettes'))).toBe(false)
    const wrong = await gantry(place, ['test'], { env: { GANTRY_REPLAY: 'sometimes' } })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain("GANTRY_REPLAY is 'sometimes'")
    expect(wrong.stderr).toContain('off, auto, record, strict')
  })

  test('is one of four words', async () => {
    using place = project()
    const { code, stderr } = await gantry(place, ['test', '--replay', 'nonsense'])
    expect(code).toBe(2)
    expect(stderr).toContain('nonsense')
    expect(stderr).toMatch(/off.*auto.*record.*strict/)
  })

  test('applies to a resumed run, which does not repeat finished trials', async () => {
    using place = project()
    const waiting = `${client('--stream').join(' ')} "$1" && { [ "$GANTRY_ATTEMPT" = 1 ] || [ -e "$GATE" ] || sleep 60; }`
    place.write({
      gate: '',
      'gantry.yaml': {
        agents: {
          mine: {
            driver: 'command',
            command: ['sh', '-c', waiting, 'sh', '{prompt}'],
            env: { GATE: place.path('gate') },
            model_script: 'model.yaml',
          },
        },
      },
    })
    const argv = ['--repeat', '2', '-j', '1']
    expect((await gantryTest(place, ['--replay', 'record', ...argv])).summary.counts).toMatchObject({
      pass: 2,
    })
    rmSync(place.path('gate'))
    rmSync(place.store, { recursive: true })
    const stopping = new AbortController()
    const running = gantry(place, ['test', '--replay', 'strict', ...argv], { signal: stopping.signal })
    const events = (trial: number) =>
      everythingIn(place.store).match(
        new RegExp(`trials/000${trial}[^\n]*events\\.jsonl\n[^]*?It is written`),
      )
    await until('the second trial waits', () => existsSync(place.store) && events(2) !== null)
    stopping.abort()
    expect((await running).code).toBe(130)
    place.write({ gate: '' })
    rmSync(place.path('cassettes/case/mine-default/1'), { recursive: true })
    const [id = ''] = readdirSync(join(place.store, 'runs'))
    const resumed = await gantryTest(place, ['--resume', id])
    expect(resumed.summary).toMatchObject({ counts: { pass: 2 }, costUsd: 0, cached: 0 })
  })
})

describe('auto', () => {
  test('requests only what is missing, records it, and pays only for that', async () => {
    using place = project({ agent: withProvider })
    const upstream = await provider(place)
    const options = { env: upstream.variables }
    const first = onlyTrial(await gantryTest(place, ['--replay', 'auto'], options))
    expect(first.verdict).toBe('pass')
    expect(first.costUsd).toBeGreaterThan(0)
    const second = onlyTrial(await gantryTest(place, ['--replay', 'auto'], options))
    expect(second).toMatchObject({ verdict: 'pass', costUsd: 0, tokens: first.tokens })
    const { stdout } = await upstream.interrupt()
    expect(linesOf({ stdout }).at(-1)).toMatchObject({ exchanges: 2 })
    const strict = onlyTrial(await gantryTest(place, ['--replay', 'strict']))
    expect(strict).toMatchObject({ verdict: 'pass', costUsd: 0 })
    expect(normalEvents(strict)).toBe(normalEvents(first))
  })
})

describe('metering an agent that reports nothing', () => {
  test('counts its tokens and its cost', async () => {
    using place = project({ agent: withProvider })
    const upstream = await provider(place)
    const trial = onlyTrial(await gantryTest(place, [], { env: upstream.variables }))
    await upstream.interrupt()
    expect(trial).toMatchObject({ verdict: 'pass', tokens: { input: 3_000, output: 150 } })
    // 3,000 tokens at $2 and 150 at $10 for a million.
    expect(trial.costUsd).toBeCloseTo(0.0075, 6)
  })

  test('stops it at the cap', async () => {
    using place = project({
      agent: withProvider,
      clientFlags: ['--times', '50', '--ignore-errors'],
      scenario: { cost: { max_usd: 0.03 } },
    })
    const upstream = await provider(place)
    const run = await gantryTest(place, [], { env: upstream.variables })
    await upstream.interrupt()
    const trial = onlyTrial(run)
    expect(trial).toMatchObject({ ending: 'over_budget', metrics: { completed: false } })
    expect(trial.costUsd).toBeGreaterThan(0.01)
    expect(trial.costUsd).toBeLessThan(0.04)
  })

  test('gives it no key of the provider’s', async () => {
    using place = project({ agent: withProvider, clientFlags: ['--dump-env', 'env.json'] })
    const upstream = await provider(place)
    const run = await gantryTest(place, ['--no-cache'], { env: upstream.variables })
    await upstream.interrupt()
    const trial = onlyTrial(run)
    const env = JSON.parse(readFileSync(join(trial.dir, 'fixture/env.json'), 'utf8')) as Record<
      string,
      string
    >
    expect(env.ANTHROPIC_API_KEY).toMatch(/.{20}/)
    expect(env.ANTHROPIC_API_KEY).not.toBe(upstream.key)
    expect(JSON.stringify(env)).not.toContain(upstream.key)
    expect(everythingIn(place.store)).not.toContain(upstream.key)
  })

  test('is not done with meter: never, and the key is then its own', async () => {
    using place = project({ agent: { ...withProvider, meter: 'never' } })
    const upstream = await provider(place)
    const trial = onlyTrial(await gantryTest(place, [], { env: upstream.variables }))
    await upstream.interrupt()
    expect(trial).toMatchObject({ verdict: 'pass', tokens: null, costUsd: null })
  })
})

describe('a provider that fails', () => {
  test('to be reached makes the trial infra', async () => {
    using place = project({ agent: withProvider })
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_API_KEY: 'sk-ant-test-0123456789' }
    const run = await gantryTest(place, ['--infra-retries', '0'], { env })
    expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', failure: 'unavailable' })
    expect(run.code).toBe(3)
  })

  test('because the key was revoked in the middle makes it infra for that reason, and records nothing', async () => {
    using place = project({ agent: withProvider })
    const upstream = await provider(place)
    let calls = 0
    const gate = createServer((request, response) => {
      calls += 1
      if (calls > 1) {
        response.writeHead(401, { 'content-type': 'application/json' })
        response.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}')
        return
      }
      request.resume()
      void post(upstream.url).then(async (answer) => {
        const { content: _, ...message } = (await answer.json()) as Record<string, unknown>
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(toolStream(message))
      })
    })
    await new Promise<void>((settle) => gate.listen(0, '127.0.0.1', settle))
    const { port } = gate.address() as AddressInfo
    const env = {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'sk-ant-revoked-0123456789',
    }
    const run = await gantryTest(place, ['--infra-retries', '0', '--replay', 'record'], { env })
    gate.close()
    await upstream.interrupt()
    expect(calls).toBe(2)
    expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', failure: 'auth' })
    expect(run.code).toBe(3)
    expect(readdirSync(place.path('cassettes'), { recursive: true }).join()).not.toContain('cassette.json')
    expect(everythingIn(place.store)).not.toContain('sk-ant-revoked-0123456789')
  })
})

/** An answer that asks for the tool, as Anthropic streams it. */
function toolStream(message: Record<string, unknown>): string {
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'save', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"path":"done.txt","content":"done"}' },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

test('agents that have no model of their own are not put behind anything', async () => {
  using place = smallProject()
  const run = await gantryTest(place, ['--replay', 'strict'])
  expect(onlyTrial(run).verdict).toBe('pass')
  expect(existsSync(place.path('cassettes'))).toBe(false)
  using empty = makeProject()
  expect(existsSync(empty.store)).toBe(false)
})
