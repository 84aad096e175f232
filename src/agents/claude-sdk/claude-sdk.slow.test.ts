import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, describe, expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { AgentRequest } from '../contract.ts'
import { createClaudeSdkAgent } from './claude-sdk.ts'
import { claudeSdkSchema } from './schema.ts'

const fixtures: FsFixture[] = []
afterAll(async () => {
  for (const fixture of fixtures) await fixture.rm()
})

const sdk = join(import.meta.dirname, 'fixtures/sdk')

describe.concurrent('a session', () => {
  test('answers prompt after prompt with one process, each with its own text, tokens and cost', async () => {
    const { open, events, read } = await place()
    const session = await open({})
    expect(events.map(({ event }) => event)).toEqual(['spawn'])
    const first = await session.ask('one\nline ünï')
    const second = await session.ask('two')
    await session.close()
    for (const [outcome, finalText] of [
      [first, 'one\nline ünï'],
      [second, 'two'],
    ] as const) {
      expect(outcome).toEqual({
        ending: 'exited',
        exitCode: 0,
        finalText,
        costUsd: 0.25,
        tokens: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
        failure: null,
      })
    }
    expect(read('prompts')).toBe('one\nline ünï\ntwo\n')
    expect(events.filter(({ event }) => event === 'spawn').length).toBe(1)
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'exited', exit_code: 0 })
  })

  test('limits turns per prompt and cost for the whole session', async () => {
    const turns = await place()
    const long = await turns.open({ maxTurns: 2 })
    expect(await long.ask('one')).toMatchObject({ ending: 'exited' })
    expect(await long.ask('two')).toMatchObject({ ending: 'exited' })
    expect(await long.ask('turns:3')).toMatchObject({
      ending: 'over_turns',
      finalText: 'turn 2',
      failure: null,
    })
    await long.close()
    const money = await place()
    const dear = await money.open({ maxCostUsd: 0.3 })
    expect(await dear.ask('one')).toMatchObject({ ending: 'exited', costUsd: 0.25 })
    expect(await dear.ask('two')).toMatchObject({ ending: 'over_budget', exitCode: null })
    await dear.close()
  })

  test('a prompt ends when its background subagents end', async () => {
    const { open } = await place()
    const session = await open({})
    expect(await session.ask('background:')).toMatchObject({ finalText: 'finished', tokens: { input: 20 } })
    await session.close()
  })

  test('after its process has ended every further prompt reports it', async () => {
    const { open, events } = await place()
    const session = await open({})
    expect(await session.ask('crash:')).toMatchObject({ ending: 'crashed', exitCode: null })
    expect(await session.ask('more')).toMatchObject({ ending: 'crashed' })
    await session.close()
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'crashed' })
  })

  test('takes one prompt at a time', async () => {
    const { open } = await place()
    const session = await open({})
    const first = session.ask('background:')
    await expect(session.ask('two')).rejects.toThrow('one prompt at a time')
    await first
    await session.close()
  })

  test('that is closed in the middle leaves no process', async () => {
    const { open, alive } = await place()
    const session = await open({})
    const answer = session.ask('hang:')
    await alive.begun()
    await session.close()
    expect(await answer).toMatchObject({ ending: 'cancelled', failure: null })
    expect(alive.now()).toEqual([false, false])
  })
})

describe.concurrent('a run', () => {
  test('is a session of one prompt', async () => {
    const { run, events, transcript } = await place()
    expect(await run('hello')).toMatchObject({ ending: 'exited', exitCode: 0, finalText: 'hello' })
    expect(events.map(({ event }) => event)).toEqual([
      'spawn',
      'session',
      'message',
      'usage',
      'usage',
      'complete',
    ])
    expect(transcript()).toContain('"subtype":"init"')
  })

  test('sees only its given environment, with its model access', async () => {
    const { run } = await place()
    const { finalText } = await run('env:', { endpoint: { url: 'http://127.0.0.1:1/t', key: 'k' } })
    const { PATH, HOME, GANTRY_EXEC_ID, HOOKS, IS_SANDBOX, ...rest } = JSON.parse(finalText ?? '{}')
    expect(GANTRY_EXEC_ID).toBeTruthy()
    expect(rest).toEqual({
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/t',
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    })
  })

  test('gets the given hooks', async () => {
    const { run } = await place()
    const hooks = { beforeTool: async () => ({ kind: 'allow' as const }) }
    expect(JSON.parse((await run('env:', { hooks })).finalText ?? '{}').HOOKS).toBe('PreToolUse')
  })

  test.each([
    ['timed_out', 700, null],
    ['cancelled', 15_000, undefined],
    ['over_budget', 15_000, 'over_budget'],
  ])('that hangs and forks ends as %s with no process left', async (ending, timeoutMs, reason) => {
    const { run, alive, events } = await place()
    const cancel = new AbortController()
    const running = run('hang:', { timeoutMs, signal: cancel.signal })
    await alive.begun()
    if (reason !== null) cancel.abort(reason)
    expect(await running).toMatchObject({ ending, exitCode: null, failure: null })
    expect(alive.now()).toEqual([false, false])
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending })
  })

  test('that was cancelled before its start does nothing', async () => {
    const { run, events, exists } = await place()
    expect(await run('one', { signal: AbortSignal.abort() })).toMatchObject({ ending: 'cancelled' })
    expect(events.map(({ event }) => event)).toEqual(['spawn', 'complete'])
    expect(exists('prompts')).toBe(false)
  })

  test('distinguishes exits, its own limits and failures of the model', async () => {
    const end = async (prompt: string) => {
      const { run, events } = await place()
      const outcome = await run(prompt)
      return {
        ...outcome,
        stderr: events.flatMap((event) => (event.event === 'output' ? [event.text] : [])).join(''),
      }
    }
    expect(await end('exit:3')).toMatchObject({
      ending: 'exited',
      exitCode: 3,
      failure: null,
      stderr: 'leaving\n',
    })
    expect(await end('limited:')).toMatchObject({ ending: 'over_turns', failure: null })
    expect(await end('overloaded:')).toMatchObject({
      ending: 'exited',
      exitCode: 1,
      failure: { reason: 'overloaded' },
    })
  })

  test('of a missing program did not start', async () => {
    const { run, events } = await place({ binary: './no-such-claude' })
    expect(await run('one')).toMatchObject({ ending: 'not_started', failure: { reason: 'unavailable' } })
    expect(events.map(({ event }) => event)).toEqual(['spawn', 'complete'])
  })

  test('without the package did not start, and shows the install command', async () => {
    const { run, open, events } = await place({ package: '/nowhere' })
    const message = expect.stringContaining('npm install @anthropic-ai/claude-agent-sdk')
    expect(await run('one')).toMatchObject({ ending: 'not_started', failure: { message } })
    const session = await open({})
    expect(await session.ask('one')).toMatchObject({ ending: 'not_started', failure: { message } })
    await session.close()
    expect(events.map(({ event }) => event)).toEqual(['spawn', 'complete', 'spawn', 'complete'])
  })

  test('an error of the event receiver is thrown, and no process is left', async () => {
    const { run } = await place()
    const emit = ({ event }: Untimed<AgentEvent>) => {
      if (event === 'message') throw new Error('disk full')
    }
    await expect(run('one', { emit })).rejects.toThrow('disk full')
  })
})

describe('probing', () => {
  test('reports the version of the package, or the install command', async () => {
    const { driver } = await place()
    const found = await driver.probe({ env: { ANTHROPIC_API_KEY: 'k' } })
    expect(found).toMatchObject({ found: true, version: '0.3.7', authenticated: true, path: sdk })
    const missing = await place({ package: '/nowhere' })
    expect(await missing.driver.probe({ env: {} })).toMatchObject({
      found: false,
      problem: expect.stringContaining('npm install @anthropic-ai/claude-agent-sdk'),
    })
    const binary = await place({ binary: 'gantry-no-such-claude' })
    expect(await binary.driver.probe({ env: { PATH: '/bin' } })).toMatchObject({
      found: false,
      problem: expect.stringContaining('not on the PATH'),
    })
  })
})

async function place(config: object = {}) {
  const fixture = await createFixture({})
  fixtures.push(fixture)
  const workspace = fixture.getPath('workspace')
  mkdirSync(workspace)
  const driver = createClaudeSdkAgent({
    name: 'mine',
    config: claudeSdkSchema.parse({ driver: 'claude-sdk', package: sdk, ...config }),
    base: fixture.path,
  })
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const common = {
    workspace,
    model: 'default',
    env: { PATH: process.env.PATH ?? '', HOME: fixture.path },
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: (event: Untimed<AgentEvent>) => void events.push(event),
    transcript: (chunk: Uint8Array) => void chunks.push(chunk.slice()),
  }
  const pids = () =>
    existsSync(join(workspace, 'pids'))
      ? readFileSync(join(workspace, 'pids'), 'utf8').split(' ').map(Number)
      : []
  return {
    driver,
    events,
    transcript: () => Buffer.concat(chunks).toString('utf8'),
    run: (prompt: string, request: Partial<AgentRequest> = {}) =>
      driver.run({ ...common, prompt, ...request }),
    open: async (request: Partial<AgentRequest>) => {
      if (driver.openSession === undefined) throw new Error('it has no sessions')
      return driver.openSession({ ...common, ...request })
    },
    read: (name: string) => readFileSync(join(workspace, name), 'utf8'),
    exists: (name: string) => existsSync(join(workspace, name)),
    alive: {
      begun: async () => {
        while (pids().length < 2 || !events.some(({ event }) => event === 'message')) await sleep(5)
      },
      now: () => pids().map(isAlive),
    },
  }
}

/** A zombie is not alive. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).charAt(0) !== 'Z'
  } catch {
    return false
  }
}
