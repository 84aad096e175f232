import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hookReaders } from '../../test/support/hook-outputs/index.ts'
import { type HookPayload, hookFixtures, hookPayloads } from '../../test/support/hook-payloads.ts'
import type { Decision } from '../core/decision.ts'
import { refusalMark } from '../core/refusal-mark.ts'
import type { HookCaller, HookCodec, HookReply } from './hook-codec.ts'
import { detectCaller, type HookedAgent, hookCodecs } from './hook-codecs.ts'

const agents = Object.keys(hookCodecs) as HookedAgent[]

const pass: Decision = { id: 'd_1', verdict: 'pass', reason: null, context: null, notice: null, findings: [] }
const shapes: Readonly<Record<string, Decision>> = {
  nothing: pass,
  context: { ...pass, context: 'The tests are in test/.' },
  notice: { ...pass, notice: 'The ledger was rotated.' },
  both: { ...pass, context: 'The tests are in test/.', notice: 'The ledger was rotated.' },
  deny: { ...pass, verdict: 'deny', reason: '.env is protected. Leave it as it is.' },
  refuse: {
    ...pass,
    verdict: 'refuse',
    reason: 'Run `npm test` first.',
    context: '3 tasks are open.',
    notice: 'Not done.',
  },
  'deny without a reason': { ...pass, verdict: 'deny', reason: '  ' },
  'far too much': {
    ...pass,
    verdict: 'deny',
    reason: 'r'.repeat(30_000),
    context: 'c'.repeat(30_000),
    notice: 'n'.repeat(30_000),
  },
  'half characters': { ...pass, verdict: 'refuse', reason: 'a\ud800', context: '\udc00b', notice: '\ud83d' },
  'half characters as context': { ...pass, context: 'a\ud83d', notice: '\ude00' },
}

const caller = (event: string | null): HookCaller => ({ event, env: {}, version: null })

describe.each(agents)('%s', (agent) => {
  const codec = hookCodecs[agent]
  const payloads = hookPayloads(agent)
  const readers = hookReaders[agent]

  test('every payload is decoded to its event', async () => {
    const events = payloads.map(({ name, event, payload }) => [name, codec.decode(payload, caller(event))])
    await expect(pretty(Object.fromEntries(events))).toMatchFileSnapshot(
      join(hookFixtures(agent), 'events.json'),
    )
  })

  test('every registered event has a payload, of the registered kind', () => {
    for (const { event, kind } of codec.events) {
      const kinds = payloads
        .filter((one) => one.event === event || isNamed(one, event))
        .map((one) => kindOf(codec, one))
      expect(kinds, event).toContain(kind)
    }
  })

  test('every answer has these exact bytes', async () => {
    const replies = registered(codec, payloads).map(({ event, payload }) => [
      event,
      Object.fromEntries(
        ['nothing', 'both', 'deny', 'refuse'].map((shape) => [shape, encoded(codec, payload, event, shape)]),
      ),
    ])
    await expect(pretty(Object.fromEntries(replies))).toMatchFileSnapshot(
      join(hookFixtures(agent), 'replies.json'),
    )
  })

  test('every version accepts every answer to every event as a whole', () => {
    const problems = payloads.flatMap(({ name, event, payload }) =>
      Object.keys(shapes).flatMap((shape) => {
        const reply = encoded(codec, payload, event, shape)
        const own = ownName(agent, event)
        if (agent !== 'cursor' && isSilent(reply)) return []
        return readers.flatMap((reader) =>
          reader.problems(own, reply).map((problem) => `${reader.name}, ${name}, ${shape}: ${problem}`),
        )
      }),
    )
    expect(problems).toEqual([])
  })

  test('a denial before a tool blocks, and so does the guard’s own failure', () => {
    const before = payloads.filter((one) => kindOf(codec, one) === 'tool_before')
    expect(before.length).toBeGreaterThan(0)
    for (const { name, event, payload } of before)
      for (const reader of readers) {
        const own = ownName(agent, event)
        expect(reader.blocks(own, encoded(codec, payload, event, 'deny')), name).toBe(true)
        expect(reader.blocks(own, encoded(codec, payload, event, 'deny without a reason')), name).toBe(true)
        expect(reader.blocks(own, encoded(codec, payload, event, 'nothing')), name).toBe(false)
        expect(reader.blocks(own, encoded(codec, payload, event, 'both')), name).toBe(false)
        for (const broken of [payload, {}, undefined, null, 'garbage', [1]]) {
          const reply = codec.fail(broken, caller(event), 'ledger not writable')
          expect(reader.blocks(own, reply), name).toBe(true)
          expect(reader.problems(own, reply), name).toEqual([])
          expect(reply.stderr).toContain('ledger not writable')
        }
      }
  })

  test('a stop is refused where it can be, and a broken guard refuses it once at most', () => {
    for (const one of payloads.filter((payload) => /^(subagent_)?stop$/.test(kindOf(codec, payload)))) {
      const { event, payload, name } = one
      const own = ownName(agent, event)
      for (const reader of readers) {
        expect(reader.blocks(own, encoded(codec, payload, event, 'refuse')), name).toBe(agent !== 'opencode')
        expect(reader.blocks(own, encoded(codec, payload, event, 'both')), name).toBe(false)
        const isFirst = !name.includes('second') && agent !== 'opencode'
        expect(reader.blocks(own, codec.fail(payload, caller(event), 'broken')), name).toBe(isFirst)
        expect(reader.blocks(own, codec.fail(undefined, caller(event), 'broken')), name).toBe(false)
      }
    }
  })

  test('its own failure is reported in a form that the agent accepts, at every event', () => {
    const problems = payloads.flatMap(({ name, event, payload }) =>
      [payload, undefined, 7].flatMap((given) => {
        const reply = codec.fail(given, caller(event), 'w'.repeat(20_000))
        if (agent !== 'cursor' && isSilent(reply)) return []
        return readers.flatMap((reader) =>
          reader.problems(ownName(agent, event), reply).map((problem) => `${name}: ${problem}`),
        )
      }),
    )
    expect(problems).toEqual([])
  })

  test('without the name of the event its failure blocks', () => {
    const reply = codec.fail(undefined, caller(null), 'no payload')
    expect(reply).toMatchObject({ stdout: '', exitCode: 2 })
    expect(reply.stderr).toContain('no payload')
  })

  test('every block names the guard', () => {
    for (const { event, payload } of payloads) {
      const reply = encoded(codec, payload, event, 'refuse')
      const said = JSON.stringify([reply.stdout, reply.stderr])
      if (said.includes('npm test')) expect(said).toContain(refusalMark)
    }
  })

  test('every missing capability has a sentence', () => {
    for (const [name, capability] of Object.entries(codec.capabilities))
      if (capability.kind !== 'yes')
        expect(capability.why, name).toMatch(/^[A-Z].{40,}\.$|^opencode .{40,}\.$/)
  })

  test('timeouts are explicit and short, except where tests may run', () => {
    for (const { kind, event, timeoutSeconds } of codec.events)
      expect(timeoutSeconds, event).toBeLessThanOrEqual(
        kind === 'stop' || kind === 'subagent_stop' ? 600 : 10,
      )
    expect(new Set(codec.events.map(({ event }) => event)).size).toBe(codec.events.length)
  })
})

test('a subagent in the background is work in progress; processes are named, and schedules are not', () => {
  const { payload } = find('claude-code', 'documented/Stop.background-task')
  const stopOf = (tasks: readonly object[], crons: readonly object[] = []) => {
    const tasked = tasks.map((task) => ({ id: 'b1', status: 'running', ...task }))
    const text = JSON.stringify({ ...payload, background_tasks: tasked, session_crons: crons })
    const event = hookCodecs['claude-code'].decode(JSON.parse(text), caller('Stop'))
    return event.kind === 'stop' ? [event.background, event.processes] : null
  }
  expect(stopOf([{ type: 'subagent', description: 'explore' }])).toEqual([true, undefined])
  expect(stopOf([{ type: 'shell', command: 'npm test' }])).toEqual([false, ['npm test']])
  expect(stopOf([{ type: 'shell', command: 'npx tsc --watch' }])).toEqual([false, ['npx tsc --watch']])
  expect(stopOf([{ type: 'monitor', command: 'tail -f x' }])).toEqual([false, ['tail -f x']])
  expect(stopOf([], [{ id: 'c1' }])).toEqual([false, undefined])
})

test('a refused stop that returns as a prompt is recognised', () => {
  const copilot = hookCodecs.copilot
  const stop = copilot.decode(find('copilot', '1.0.102/agentStop').payload, caller('agentStop'))
  const { reason } = JSON.parse(copilot.encode(stop, shapes.refuse ?? pass, caller('agentStop')).stdout)
  const back = copilot.decode({ sessionId: 's', cwd: '/w', prompt: reason }, caller('userPromptSubmitted'))
  expect(back).toMatchObject({ kind: 'prompt', synthetic: true })
})

describe('who calls', () => {
  test.each(hookPayloads('claude-code').map(({ name, payload }) => [name, payload] as const))(
    'Claude Code itself: %s',
    (_, payload) => {
      expect(detectCaller('claude-code', payload, {})).toEqual({
        kind: 'as_asked',
        codec: hookCodecs['claude-code'],
      })
    },
  )

  test.each(hookPayloads('copilot').map(({ name, payload }) => [name, payload] as const))(
    'Copilot with a hook for Claude Code: %s',
    (_, payload) => {
      // Started in a shell of Claude Code, it has inherited its variables.
      const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'another' }
      expect(detectCaller('claude-code', payload, env)).toMatchObject({ kind: 'borrowed', agent: 'copilot' })
      expect(detectCaller('copilot', payload, env)).toMatchObject({ kind: 'as_asked' })
    },
  )

  test.each(hookPayloads('cursor').map(({ name, payload }) => [name, payload] as const))(
    'Cursor with a hook for Claude Code: %s',
    (_, payload) => {
      expect(detectCaller('claude-code', payload, {})).toMatchObject({ kind: 'borrowed', agent: 'cursor' })
    },
  )

  test('the session in the environment decides, and garbage counts as requested', () => {
    const payload = {
      session_id: 's1',
      timestamp: '2026-11-15T00:00:00Z',
      hook_event_name: 'Stop',
      cwd: '/w',
    }
    expect(detectCaller('claude-code', payload, { CLAUDE_CODE_SESSION_ID: 's1' })).toMatchObject({
      kind: 'as_asked',
    })
    for (const garbage of [undefined, null, 4, 'x', [], {}])
      expect(detectCaller('claude-code', garbage, {})).toMatchObject({ kind: 'as_asked' })
  })

  test('Copilot with a hook for Claude Code is decoded by the name on its command line', () => {
    const { payload } = find('copilot', '1.0.102-as-claude/PostToolUse.Bash.exit-3')
    const { codec } = detectCaller('claude-code', payload, {})
    const event = codec.decode(payload, caller('PostToolUse'))
    expect(event).toMatchObject({
      agent: 'copilot',
      kind: 'tool_after',
      outcome: { kind: 'failure', exitCode: 3 },
    })
    expect(codec.encode(event, shapes.context ?? pass, caller('PostToolUse')).stdout).toBe(
      '{"additionalContext":"The tests are in test/."}',
    )
  })

  test('Cursor with a hook for Claude Code is answered in Claude Code’s format', () => {
    const { payload } = find('cursor', 'documented/preToolUse.Shell')
    const { codec } = detectCaller('claude-code', { ...payload, hook_event_name: 'PreToolUse' }, {})
    const asked = caller('PreToolUse')
    const event = codec.decode({ ...payload, hook_event_name: 'PreToolUse' }, asked)
    const reply = codec.encode(event, shapes.deny ?? pass, asked)
    for (const reader of hookReaders['claude-code']) {
      expect(reader.problems('PreToolUse', reply)).toEqual([])
      expect(reader.blocks('PreToolUse', reply)).toBe(true)
    }
  })
})

function encoded(codec: HookCodec, payload: unknown, event: string, shape: string): HookReply {
  const asked = caller(event)
  return codec.encode(codec.decode(payload, asked), shapes[shape] ?? pass, asked)
}

function kindOf(codec: HookCodec, { payload, event }: HookPayload): string {
  return codec.decode(payload, caller(event)).kind
}

/** One payload for each registered event. */
function registered(codec: HookCodec, payloads: readonly HookPayload[]): readonly HookPayload[] {
  return codec.events.flatMap(({ event, kind }) => {
    const found = payloads.find(
      (one) => (one.event === event || isNamed(one, event)) && kindOf(codec, one) === kind,
    )
    return found === undefined ? [] : [{ ...found, event }]
  })
}

/** opencode's fixture files are named after hooks with dots in them. */
function isNamed({ payload }: HookPayload, event: string): boolean {
  return payload.hook === event
}

const claudeNames: Readonly<Record<string, string>> = {
  UserPromptSubmit: 'userPromptSubmitted',
  Stop: 'agentStop',
}

/** Copilot's own name for an event of its other format. */
function ownName(agent: HookedAgent, event: string): string {
  if (agent === 'opencode') return event.replace(/^event:/, '')
  if (agent !== 'copilot') return event
  return claudeNames[event] ?? event.charAt(0).toLowerCase() + event.slice(1)
}

function isSilent({ stdout, stderr, exitCode }: HookReply): boolean {
  return stdout === '' && stderr === '' && exitCode === 0
}

function find(agent: HookedAgent, name: string): HookPayload {
  const found = hookPayloads(agent).find((one) => one.name === name)
  if (found === undefined) throw new Error(`no fixture ${name}`)
  return found
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
