import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { hookReaders } from '../../test/support/hook-outputs/index.ts'
import { hookPayloads } from '../../test/support/hook-payloads.ts'
import type { Decision } from '../core/decision.ts'
import { GantryError } from '../core/error.ts'
import type { HookEvent } from '../core/hook-event.ts'
import type { HookCaller, HookCodec } from './hook-codec.ts'
import { detectCaller, type HookedAgent, hookCodecs } from './hook-codecs.ts'

const agents = Object.keys(hookCodecs) as HookedAgent[]
const anyText = fc.string({ unit: anyCharacter, maxLength: 60 })
/** Includes lone surrogates. */
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units))
const anyDecision: fc.Arbitrary<Decision> = fc.record({
  id: fc.constant('d_1'),
  verdict: fc.constantFrom('pass', 'deny', 'refuse'),
  reason: fc.option(fc.oneof(anyText, anyUnits, fc.constant('x'.repeat(12_000)))),
  context: fc.option(fc.oneof(anyText, anyUnits, fc.constant('😀'.repeat(9_000)))),
  notice: fc.option(fc.oneof(anyText, anyUnits)),
  findings: fc.constant([]),
})

describe.each(agents)('%s', (agent) => {
  const codec = hookCodecs[agent]
  const payloads = hookPayloads(agent)
  const names = [...new Set(payloads.map(({ event }) => event)), 'Nonsense', '__proto__', '']

  test('any JSON is decoded, or refused with a readable error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.option(fc.constantFrom(...names)), (payload, event) => {
        expectSound(decodedOrRefused(codec, payload, callerOf(event)))
      }),
      { numRuns: 300 },
    )
  })

  test('a payload with any one field replaced, removed or added is decoded, or refused', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...payloads),
        fc.nat(),
        fc.oneof(fc.jsonValue(), anyUnits),
        ({ payload, event }, index, value) => {
          const keys = Object.keys(payload)
          const key = keys[index % keys.length] ?? 'x'
          const { [key]: _, ...without } = payload
          for (const changed of [{ ...payload, [key]: value }, without, { ...payload, unheard_of: value }])
            expectSound(decodedOrRefused(codec, changed, callerOf(event)))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('the same applies to the input and the result of a tool', () => {
    const inputs = [
      'tool_input',
      'toolArgs',
      'args',
      'tool_response',
      'toolResult',
      'tool_result',
      'tool_output',
      'metadata',
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...payloads),
        fc.constantFrom(...inputs),
        fc.dictionary(
          fc.constantFrom(
            'command',
            'cmd',
            'file_path',
            'path',
            'content',
            'edits',
            'stdout',
            'exit',
            'llmContent',
          ),
          fc.jsonValue(),
        ),
        ({ payload, event }, key, value) => {
          expectSound(decodedOrRefused(codec, { ...payload, [key]: value }, callerOf(event)))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('any decision on any event is an answer that is accepted as a whole, and blocks if it may', () => {
    fc.assert(
      fc.property(fc.constantFrom(...payloads), anyDecision, ({ payload, event }, decision) => {
        const decoded = codec.decode(payload, callerOf(event))
        const reply = codec.encode(decoded, decision, callerOf(event))
        if (reply.stdout === '' && reply.exitCode === 0) return
        for (const reader of hookReaders[agent]) {
          const name = ownName(agent, event)
          expect(reader.problems(name, reply)).toEqual([])
          if (decoded.kind === 'tool_before')
            expect(reader.blocks(name, reply)).toBe(decision.verdict !== 'pass')
          else if (decision.verdict === 'pass') expect(reader.blocks(name, reply)).toBe(false)
        }
      }),
      { numRuns: 400 },
    )
  })

  test('the failure answer never throws, whatever the payload and the reason', () => {
    fc.assert(
      fc.property(
        fc.option(fc.jsonValue(), { nil: undefined }),
        fc.option(fc.constantFrom(...names)),
        anyUnits,
        (payload, event, why) => {
          const reply = codec.fail(payload, callerOf(event), why)
          expect([0, 2]).toContain(reply.exitCode)
          expect(reply.stderr.isWellFormed() && reply.stdout.isWellFormed()).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('a payload of 10 MB is handled', () => {
    const big = 'a "quoted" line\n'.repeat(655_360)
    const before = payloads.find(
      (one) => codec.decode(one.payload, callerOf(one.event)).kind === 'tool_before',
    )
    const input = { command: big, file_path: '/w/a', content: big, path: '/w/a', filePath: '/w/a' }
    for (const key of ['tool_input', 'toolArgs', 'args'])
      expectSound(
        decodedOrRefused(codec, { ...before?.payload, [key]: input }, callerOf(before?.event ?? null)),
      )
  })

  test('without a session the session is unknown; without a directory it is refused unless the environment has one', () => {
    const [first] = payloads
    const ids = [
      'session_id',
      'sessionId',
      'session',
      'conversation_id',
      'agentId',
      'agent_id',
      'parentAgentId',
    ]
    const bare = Object.fromEntries(
      Object.entries(first?.payload ?? {}).filter(([key]) => !ids.includes(key)),
    )
    expect(codec.decode(bare, callerOf(first?.event ?? null)).session).toBe('unknown')
    const { cwd: _1, directory: _2, worktree: _3, workspace_roots: _4, ...nowhere } = bare
    expect(() => codec.decode(nowhere, callerOf(first?.event ?? null))).toThrow(GantryError)
    expect(codec.decode(nowhere, { ...callerOf(first?.event ?? null), env: { PWD: '/w' } }).cwd).toBe('/w')
  })
})

test('finding the caller never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...agents), (payload, agent) => {
      expect(detectCaller(agent, payload, {}).codec).toBeDefined()
    }),
  )
})

function callerOf(event: string | null): HookCaller {
  return { event, env: {}, version: null }
}

function decodedOrRefused(codec: HookCodec, payload: unknown, caller: HookCaller): HookEvent | null {
  try {
    return codec.decode(payload, caller)
  } catch (error) {
    if (!(error instanceof GantryError) || error.code !== 'INVALID_FILE') throw error
    expect(error.message).toContain(codec.agent)
    return null
  }
}

/** The properties that rules rely on. */
function expectSound(event: HookEvent | null): void {
  if (event === null) return
  expect(event.cwd.startsWith('/') && event.root.startsWith('/')).toBe(true)
  expect(event.session).not.toBe('')
  if (event.kind !== 'tool_after') return
  const { exitCode, kind, background, timedOut, interrupted } = event.outcome
  if (exitCode === 0 && event.call.action.kind === 'shell') {
    expect(kind).not.toBe('failure')
    expect(background || timedOut || interrupted).toBe(false)
  }
}

function ownName(agent: HookedAgent, event: string): string {
  if (agent === 'opencode') return event.replace(/^event:/, '')
  if (agent !== 'copilot') return event
  const own: Readonly<Record<string, string>> = { UserPromptSubmit: 'userPromptSubmitted', Stop: 'agentStop' }
  return own[event] ?? event.charAt(0).toLowerCase() + event.slice(1)
}
