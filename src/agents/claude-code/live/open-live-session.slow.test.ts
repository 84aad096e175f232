import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, describe, expect, test } from 'vitest'
import { isAlive } from '../../../../test/support/is-alive.ts'
import type { AgentEvent, Untimed } from '../../../core/event.ts'
import { createCliAgent } from '../../cli/create-cli-agent.ts'
import type { AgentSession, SeenHook, SessionRequest } from '../../contract.ts'
import { claudeCode } from '../claude-code.ts'
import { claudeCodeSchema } from '../schema.ts'

const fixtures: FsFixture[] = []
afterAll(async () => {
  for (const fixture of fixtures) await fixture.rm()
})

const standIn = join(import.meta.dirname, 'fixtures/stand-in.mjs')

describe.concurrent('a live session', () => {
  test('answers prompt after prompt with one process, each with its own text, tokens and cost', async () => {
    const { open, events, transcript } = await place()
    const session = await open()
    expect(events).toMatchObject([{ event: 'spawn', pid: expect.any(Number) }])
    for (const prompt of ['one\nline ünï', '-two', '/three x', 'four \u2028\u2029 five', '']) {
      expect(await session.ask(prompt)).toEqual({
        ending: 'exited',
        exitCode: 0,
        finalText: prompt,
        costUsd: 0.25,
        tokens: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
        turns: 1,
        apiDurationMs: 40,
        deniedTools: [],
        failure: null,
      })
    }
    expect(session.isAlive()).toBe(true)
    await session.close()
    await session.close()
    expect(session.isAlive()).toBe(false)
    expect(kinds(events).filter((kind) => kind === 'spawn' || kind === 'complete')).toEqual([
      'spawn',
      'complete',
    ])
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'exited', exit_code: 0 })
    expect(transcript()).toContain('"control_response"')
    expect(JSON.stringify(events)).not.toContain('control_response')
    expect(await session.ask('late')).toMatchObject({
      ending: 'not_started',
      failure: { reason: 'unavailable', message: 'agent mine: its session is closed' },
    })
  })

  test('sends and receives a megabyte', async () => {
    const { open } = await place()
    const session = await open()
    const prompt = 'wörd '.repeat(250_000)
    expect(await session.ask(prompt)).toMatchObject({ finalText: prompt, failure: null })
    await session.close()
  })

  test.each(['', 'old'])('the cost of a prompt is right across a clear, in mode %j', async (mode) => {
    const { open, events } = await place(mode)
    const session = await open()
    await session.ask('one')
    await session.ask('two')
    const before = events.length
    await session.clear()
    expect(events.slice(before)).toMatchObject([{ event: 'session', session_id: 'conversation-2' }])
    for (const prompt of ['three', 'four'])
      expect(await session.ask(prompt)).toMatchObject({
        costUsd: 0.25,
        tokens: { input: 10, output: 5 },
        apiDurationMs: 40,
        finalText: prompt,
      })
    await session.close()
  })

  test('a failed clear ends the session, and the next prompt reports it', async () => {
    const { open } = await place('forgetful')
    const session = await open()
    await session.ask('one')
    await session.clear()
    expect(session.isAlive()).toBe(false)
    expect(await session.ask('two')).toMatchObject({
      ending: 'not_started',
      failure: { reason: 'unavailable', message: 'agent mine: it did not forget the conversation' },
    })
    await session.close()
  })

  test('a clear that takes too long ends the session', async () => {
    const { open, pid } = await place('slow-to-forget')
    const session = await open({ timeoutMs: 4_000 })
    await session.clear()
    expect((await session.ask('one')).failure?.message).toContain(
      'it did not forget the conversation within 4000 ms',
    )
    expect(isAlive(pid())).toBe(false)
    await session.close()
  })

  test('a session that is closed while it works is cancelled', async () => {
    const { open, events } = await place()
    const session = await open()
    const hanging = session.ask('hang')
    await heard(events, 'session', 1)
    await session.close()
    expect(await hanging).toMatchObject({ ending: 'cancelled', failure: null })
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'cancelled' })
  })

  test('background work is stopped before the conversation is cleared', async () => {
    const { open, read } = await place()
    const session = await open()
    await session.ask('command')
    await session.clear()
    expect(read('stopped')).toBe('c1')
    await session.close()
  })

  test('recalled messages precede the next prompt in order, and are not reported as events', async () => {
    const { open, events } = await place()
    const session = await open()
    const before = events.length
    await session.recall([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      { role: 'assistant', content: 'd' },
    ])
    expect(new Set(kinds(events.slice(before)))).toEqual(new Set(['session']))
    expect(await session.ask('e')).toMatchObject({ finalText: 'a|b|c|d|e' })
    await session.clear()
    expect(await session.ask('f')).toMatchObject({ finalText: 'f' })
    await session.close()
  })

  test('at its time limit it is asked to stop, and the session stays open when it does', async () => {
    const { open } = await place()
    const session = await open()
    expect(await session.ask('hang', { timeoutMs: 150, interruptGraceMs: 8_000 })).toMatchObject({
      ending: 'timed_out',
      exitCode: null,
      failure: null,
    })
    expect(await session.ask('next')).toMatchObject({ ending: 'exited', finalText: 'next', costUsd: 0.25 })
    await session.close()
  })

  test.each([
    ['without a grace', 'hang', {}, ''],
    ['when it continues', 'stubborn', { interruptGraceMs: 200 }, ''],
    ['when it does not even answer', 'hang', { interruptGraceMs: 200 }, 'unmoved'],
  ])('at its time limit it is ended %s', async (_, prompt, options, mode) => {
    const { open, events, pid } = await place(mode)
    const session = await open()
    expect(await session.ask(prompt, { timeoutMs: 150, ...options })).toMatchObject({
      ending: 'timed_out',
      exitCode: null,
    })
    expect(session.isAlive()).toBe(false)
    expect(isAlive(pid())).toBe(false)
    expect(await session.ask('more')).toMatchObject({ ending: 'not_started' })
    await session.close()
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'timed_out' })
  })

  test('a prompt that waited for its model at the time limit reports it', async () => {
    const { open } = await place()
    const session = await open()
    const outcome = await session.ask('retry', { timeoutMs: 1_500, interruptGraceMs: 8_000 })
    expect(outcome).toMatchObject({ ending: 'timed_out', failure: { reason: 'overloaded' } })
    expect(await session.ask('next')).toMatchObject({ ending: 'exited', failure: null })
    await session.close()
  })

  test("a prompt's turn limit applies at the end of the last turn, and the session stays open", async () => {
    const { open, events } = await place()
    const session = await open()
    expect(await session.ask('turns 2', { maxTurns: 3 })).toMatchObject({ ending: 'exited', turns: 3 })
    const before = events.length
    expect(await session.ask('turns 9 3', { maxTurns: 3 })).toMatchObject({
      ending: 'over_turns',
      exitCode: null,
      failure: null,
    })
    expect(kinds(events.slice(before)).filter((kind) => kind === 'tool_call').length).toBe(3)
    expect(await session.ask('next')).toMatchObject({ ending: 'exited', finalText: 'next' })
    await session.close()
  })

  test('the cost limit applies to the whole session, across a clear', async () => {
    const { open } = await place()
    const session = await open({ maxCostUsd: 0.6 })
    await session.ask('one')
    await session.clear()
    expect(await session.ask('two')).toMatchObject({ ending: 'exited' })
    expect(await session.ask('three')).toMatchObject({ ending: 'over_budget', costUsd: 0.25, failure: null })
    expect(await session.ask('four')).toMatchObject({ ending: 'over_budget', failure: null })
    await session.close()
  })

  test.each([
    ['over_budget', 'over_budget'],
    ['ctrl-c', 'cancelled'],
  ])('an external meter or a cancellation stops it: %s', async (reason, ending) => {
    const stop = new AbortController()
    const { open, events, pid } = await place()
    const session = await open({ signal: stop.signal })
    const hanging = session.ask('hang')
    await heard(events, 'session', 1)
    stop.abort(reason)
    expect(await hanging).toMatchObject({ ending, failure: null })
    expect(isAlive(pid())).toBe(false)
    expect(await session.ask('more')).toMatchObject({ ending, failure: null })
    await session.close()
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending })
  })

  test('a session that was cancelled before its start starts nothing', async () => {
    const { open, events } = await place()
    const session = await open({ signal: AbortSignal.abort() })
    expect(await session.ask('one')).toMatchObject({ ending: 'cancelled', failure: null })
    await session.close()
    expect(events).toMatchObject([{ event: 'spawn' }, { event: 'complete', ending: 'cancelled' }])
    expect(events[0]).not.toHaveProperty('pid')
  })

  test.each([
    ['die', { ending: 'crashed', exitCode: null }, 'agent mine: its process ended by SIGKILL'],
    ['exit 3', { ending: 'exited', exitCode: 3 }, 'its process ended with exit code 3: out of memory'],
  ])('a process that ends in the middle gives no answer: %s', async (prompt, ended, words) => {
    const { open, events } = await place()
    const session = await open()
    await session.ask('one')
    expect(await session.ask(prompt)).toMatchObject({
      ...ended,
      costUsd: null,
      finalText: null,
      failure: { reason: 'unavailable', message: expect.stringContaining(words) },
    })
    expect(session.isAlive()).toBe(false)
    expect(await session.ask('more')).toMatchObject({ ending: 'not_started', exitCode: null })
    expect(await session.loaded()).not.toBeNull()
    expect(await session.rewind()).toMatchObject({ kind: 'refused' })
    await session.clear()
    await session.recall([{ role: 'user', content: 'x' }])
    await session.close()
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: ended.ending })
  })

  test('a failure of one prompt does not count for the next, even when it is cut off', async () => {
    const { open } = await place()
    const session = await open()
    expect(await session.ask('fail')).toMatchObject({ exitCode: 1, failure: { reason: 'overloaded' } })
    expect(await session.ask('two')).toMatchObject({ exitCode: 0, failure: null })
    await session.ask('fail')
    expect(await session.ask('die')).toMatchObject({ failure: { reason: 'unavailable' } })
    await session.close()
  })

  test('denied tools are reported for their own prompt', async () => {
    const { open } = await place()
    const session = await open()
    expect(await session.ask('denied')).toMatchObject({ deniedTools: ['Bash', 'Write'] })
    expect(await session.ask('next')).toMatchObject({ deniedTools: [] })
    await session.close()
  })

  test('garbage between its lines is kept and ignored', async () => {
    const { open, events } = await place()
    const session = await open()
    expect(await session.ask('garbage')).toMatchObject({ ending: 'exited', finalText: 'garbage' })
    const raw = events.flatMap((event) => (event.event === 'raw' ? [event.line] : []))
    expect(raw.slice(0, 3)).toEqual(['no json', '[1,2]', '{"type":"result"'])
    expect(await session.ask('next')).toMatchObject({ finalText: 'next' })
    await session.close()
  })

  test.each([
    ['mute', { timeoutMs: 400 }, 'it did not answer within 400 ms of its start'],
    ['refuses', {}, 'it refused to begin a session: not today'],
  ])('a program that does not start correctly is not a session: %s', async (mode, request, words) => {
    const { open, events, pid } = await place(mode)
    const session = await open(request)
    expect(session.isAlive()).toBe(false)
    expect(await session.loaded()).toBeNull()
    expect(await session.ask('one')).toMatchObject({
      ending: 'not_started',
      failure: { reason: 'unavailable', message: `agent mine: ${words}` },
    })
    await session.close()
    expect(isAlive(pid())).toBe(false)
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'not_started' })
  })

  test.each([
    ['exits at once', 'echo "unknown option" >&2; exit 2', 'exit code 2: unknown option'],
    ['has no interpreter', null, 'ENOENT'],
  ])('a program that %s cannot be used', async (_, script, words) => {
    const { open, events, program } = await place()
    writeFileSync(program, script === null ? '#!/no/such/interpreter\n' : `#!/bin/sh\n${script}\n`)
    const session = await open()
    const outcome = await session.ask('one')
    expect(outcome).toMatchObject({ ending: 'not_started', failure: { reason: 'unavailable' } })
    expect(outcome.failure?.message).toContain(words)
    await session.close()
    expect(kinds(events)).toContain('spawn')
    expect(kinds(events).at(-1)).toBe('complete')
  })

  test('a missing program is reported with the install command', async () => {
    const { open, events } = await place('', { binary: 'gantry-no-such-claude' })
    const session = await open()
    expect((await session.ask('one')).failure?.message).toContain('npm install --global')
    await session.close()
    expect(kinds(events)).toEqual(['spawn', 'complete'])
  })

  test('a program that stops reading is ended', async () => {
    const { open, pid, program } = await place()
    const response = { subtype: 'success', request_id: 'gantry-1', response: {} }
    const begun = JSON.stringify({ type: 'control_response', response })
    writeFileSync(program, `#!/bin/sh\nread line; exec 0<&-; echo '${begun}'; exec sleep 60\n`)
    const session = await open()
    const outcome = await session.ask('one')
    expect(outcome).toMatchObject({ ending: 'crashed', failure: { reason: 'unavailable' } })
    expect(outcome.failure?.message).toContain('does not read its input')
    expect(isAlive(pid())).toBe(false)
    await session.close()
  })

  test('its daemons, and the process itself when it does not exit, are ended', async () => {
    const { open, read, pid, events } = await place('stays')
    const session = await open()
    expect(await session.ask('keep')).toMatchObject({ finalText: 'kept' })
    expect(isAlive(Number(read('pid')))).toBe(true)
    await session.close()
    expect([isAlive(Number(read('pid'))), isAlive(pid())]).toEqual([false, false])
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'exited' })
  })

  test('a result of something else is not the answer, where the program distinguishes them', async () => {
    const { open } = await place('queues')
    const session = await open()
    expect(await session.ask('mine')).toMatchObject({ finalText: 'mine' })
    await session.close()
  })

  test('a turn that background work started is waited for', async () => {
    const { open, events } = await place()
    const session = await open()
    await session.ask('later')
    await heard(events, 'session', 2)
    expect(await session.ask('mine')).toMatchObject({ finalText: 'mine' })
    await session.close()
  })

  test('the end of a background subagent belongs to its prompt, also when it is asked to stop', async () => {
    const { open } = await place()
    const session = await open()
    expect(await session.ask('background')).toMatchObject({ finalText: 'background' })
    const stopped = await session.ask('background forever', { timeoutMs: 1_500, interruptGraceMs: 8_000 })
    expect(stopped).toMatchObject({ ending: 'timed_out', finalText: 'started it' })
    expect(session.isAlive()).toBe(true)
    expect(await session.ask('next')).toMatchObject({ finalText: 'next' })
    await session.close()
  })

  test('an observer gets hook events unchanged, and the agent does not wait for it', async () => {
    const seen: SeenHook[] = []
    const { open } = await place()
    const session = await open({ onHook: (hook) => seen.push(hook) })
    expect(await session.ask('hook SubagentStart')).toMatchObject({ finalText: '{}' })
    expect(seen).toEqual([
      {
        event: 'SubagentStart',
        input: { tool_name: 'Bash', tool_use_id: 'x' },
        timestamp: expect.any(Number),
      },
    ])
    await session.close()
  })

  test('a version that does not support all events gets those it supports', async () => {
    const seen: string[] = []
    const { open } = await place('few-hooks')
    const session = await open({ onHook: ({ event }) => seen.push(event) })
    expect(await session.ask('hook SubagentStart')).toMatchObject({ finalText: 'null' })
    expect(await session.ask('hook PreToolUse')).toMatchObject({ finalText: '{}' })
    expect(seen).toEqual(['PreToolUse'])
    await session.close()
  })

  test('hooks decide, and other permission requests are refused', async () => {
    const { open } = await place()
    const session = await open({
      hooks: { beforeTool: async ({ tool }) => ({ kind: 'deny', reason: `no ${tool}` }) },
    })
    expect((await session.ask('hook PreToolUse')).finalText).toContain('"permissionDecisionReason":"no Bash"')
    expect(await session.ask('hook Stop')).toMatchObject({ finalText: 'null' })
    expect((await session.ask('odd')).finalText).toContain('no answer to "can_use_tool"')
    await session.close()
  })

  test.each(['emit', 'transcript', 'onHook'] as const)(
    'an error thrown by %s is rethrown, and no process is left',
    async (listener) => {
      const { open, pid } = await place()
      let isBroken = false
      const session = await open({
        [listener]: () => {
          if (isBroken) throw new Error('listener broke')
        },
      })
      isBroken = true
      await expect(session.ask('hook PreToolUse')).rejects.toThrow('listener broke')
      await expect(session.close()).rejects.toThrow('listener broke')
      expect(isAlive(pid())).toBe(false)
    },
  )

  test('the loaded parts are reported without a prompt, once its servers have connected or failed', async () => {
    const { open, events } = await place('broken-plugin')
    const session = await open()
    expect(await session.loaded()).toEqual({
      version: '2.1.999',
      session_id: 'conversation-2',
      tools: ['Bash', 'mcp__plugin_demo_weather__early', 'mcp__plugin_demo_weather__forecast'],
      skills: ['demo:greet'],
      agents: ['demo:reviewer'],
      commands: ['clear', 'demo:hi'],
      plugins: [{ name: 'demo', path: '/plugins/demo' }],
      plugin_errors: ['/plugins/odd: no manifest'],
      mcp_servers: [
        { name: 'plugin:demo:weather', status: 'connected', tools: ['forecast'] },
        { name: 'plugin:demo:bad', status: 'failed', error: 'Connection closed' },
      ],
    })
    expect(events.filter(({ event }) => event === 'usage')).toEqual([])
    expect(await session.ask('one')).toMatchObject({
      invalid: 'a plugin did not load: /plugins/odd: no manifest',
    })
    // The conversation is not cleared a second time for it.
    expect(await session.loaded()).toMatchObject({ session_id: 'conversation-2' })
    await session.close()
  })

  test('a server that never answers is waited for no longer than the session allows', async () => {
    const { open } = await place('pending')
    const session = await open({ timeoutMs: 3_000 })
    expect(await session.loaded()).toMatchObject({ mcp_servers: [{ name: 'mute', status: 'pending' }] })
    expect(session.isAlive()).toBe(true)
    await session.close()
  })

  test('files are restored to their state before the last prompt, of this conversation only', async () => {
    const { open, read } = await place('ids')
    const session = await open()
    expect(await session.rewind()).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('no prompt'),
    })
    await session.ask('one')
    expect(await session.rewind()).toEqual({ kind: 'rewound' })
    expect(read('rewound')).toBe(read('uuid'))
    expect(read('rewound')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    await session.clear()
    expect(await session.rewind()).toMatchObject({ kind: 'refused' })
    await session.close()
    const other = await place('no-rewind')
    const unable = await other.open()
    await unable.ask('one')
    expect(await unable.rewind()).toEqual({ kind: 'refused', why: 'no checkpoints' })
    await unable.close()
  })

  test('two concurrent prompts throw', async () => {
    const { open, events } = await place()
    const session = await open()
    const first = session.ask('hang', { timeoutMs: 2_000, interruptGraceMs: 8_000 })
    await heard(events, 'session', 1)
    await expect(session.ask('two')).rejects.toThrow('one prompt at a time')
    await expect(session.clear()).rejects.toThrow('one prompt at a time')
    await expect(session.recall([])).rejects.toThrow('one prompt at a time')
    expect(await first).toMatchObject({ ending: 'timed_out' })
    await session.close()
  })
})

type Live = Required<AgentSession>

async function place(mode = '', config: object = {}) {
  const fixture = await createFixture({})
  fixtures.push(fixture)
  const workspace = fixture.getPath('workspace')
  mkdirSync(workspace)
  const program = fixture.getPath('claude')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${standIn}" "$@"\n`)
  chmodSync(program, 0o755)
  const driver = createCliAgent(claudeCode, {
    name: 'mine',
    config: claudeCodeSchema.parse({ driver: 'claude-code', binary: program, ...config }),
    base: fixture.path,
  })
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const common: SessionRequest = {
    workspace,
    model: 'default',
    env: { PATH: process.env.PATH ?? '', HOME: fixture.path, STAND_IN: mode },
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
    transcript: (chunk) => void chunks.push(chunk.slice()),
  }
  return {
    program,
    events,
    transcript: () => Buffer.concat(chunks).toString('utf8'),
    open: async (request: Partial<SessionRequest> = {}): Promise<Live> => {
      if (driver.openSession === undefined) throw new Error('it has no sessions')
      return (await driver.openSession({ ...common, ...request })) as Live
    },
    read: (name: string) => readFileSync(join(workspace, name), 'utf8'),
    exists: (name: string) => existsSync(join(workspace, name)),
    pid: () => events.flatMap((event) => (event.event === 'spawn' ? [event.pid ?? 0] : []))[0] ?? 0,
  }
}

function kinds(events: readonly Untimed<AgentEvent>[]): readonly string[] {
  return events.map(({ event }) => event)
}

async function heard(events: readonly Untimed<AgentEvent>[], kind: string, times: number): Promise<void> {
  while (kinds(events).filter((one) => one === kind).length < times) await sleep(5)
}
