import { expect, test } from 'vitest'
import { madeUpWorld } from '../../test/support/made-up-world.ts'
import type { HookEvent, HookEventDetail } from '../core/hook-event.ts'
import type { SealBreak } from '../guard-engine/contract.ts'
import { historyFold } from '../guard-engine/history/index.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import type { Scene } from './contract.ts'
import { protectItself } from './protect-itself.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const root = '/home/dev/project'
const own = [`${root}/harness.json`, `${root}/.claude/settings.json`]
const world = madeUpWorld({ files: { [`${root}/harness.json`]: '{}' } }, { home: '/home/dev', own })

interface Given {
  readonly unlockedUntilMs?: number
  readonly latestMs?: number
  readonly warned?: readonly string[]
  readonly seal?: readonly SealBreak[] | null
}

function judge(happening: HookEventDetail, given: Given = {}) {
  const { unlockedUntilMs = 0, latestMs = 0, warned = [], seal = null } = given
  const base = { agent: 'claude-code', session: 's', agentId: null, agentType: null, promptId: null } as const
  const event: HookEvent = { ...base, cwd: root, root, ...happening }
  const { initial } = historyFold
  const scene: Scene = {
    event,
    world,
    traits: {},
    nowMs,
    settings: {
      ...defaultSettings,
      fileProtection: { ...defaultSettings.fileProtection, enabled: false, protectedPatterns: [] },
    },
    facts: { tree: null, project: null, edited: [], verify: [], seal, tests: null, protected: null },
    history: {
      ...initial,
      session: { ...initial.session, latestMs, warned },
      gate: { ...initial.gate, unlockedUntilMs },
    },
  }
  return protectItself.judge(scene)
}

const write = (path: string): HookEventDetail => ({
  kind: 'tool_before',
  call: { id: 't', tool: 'Write', action: { kind: 'write', path, content: '{}' }, input: {} },
})
const broken = [{ path: `${root}/harness.json`, what: 'its content is another' }]
const stop = { kind: 'stop', again: false, lastMessage: null, background: false } as const

test('no setting disables self-protection, and the reason says who can lift it', () => {
  expect(judge(write('harness.json'))?.deny).toContain(`${root}/harness.json is protected`)
  expect(judge(write('harness.json'))?.deny).toContain('gantry guard unlock')
  expect(judge(write('src/a.ts'))).toBeNull()
})

test('an unlock lifts it, reports it once, and records every use', () => {
  const untilMs = nowMs + 60_000
  const first = judge(write('harness.json'), { unlockedUntilMs: untilMs })
  expect(first?.deny).toBeUndefined()
  expect(first?.notice).toContain('2026-01-01T12:01:00.000Z')
  const about = first?.remember?.map((note) => (note.kind === 'warned' ? note.about : '')) ?? []
  expect(about).toEqual([`unlocked until ${untilMs}`, expect.stringContaining('unlock used')])
  const second = judge(write('harness.json'), { unlockedUntilMs: untilMs, warned: about })
  expect(second).toEqual({ remember: [{ kind: 'warned', about: expect.stringContaining('unlock used') }] })
  expect(judge(write('src/a.ts'), { unlockedUntilMs: untilMs })?.notice).toContain('unlocked until')
  expect(judge(write('src/a.ts'), { unlockedUntilMs: untilMs, warned: about })).toBeNull()
})

test('an expired unlock lifts nothing, even when the clock is set back', () => {
  expect(judge(write('harness.json'), { unlockedUntilMs: nowMs })?.deny).toBeDefined()
  const latestMs = nowMs + 120_000
  expect(judge(write('harness.json'), { unlockedUntilMs: nowMs + 60_000, latestMs })?.deny).toBeDefined()
})

test('a change of settings that breaks the seal is refused, unless a person unlocked or nothing differs', () => {
  const change = { kind: 'config_change', source: 'project_settings', path: null } as const
  expect(judge(change, { seal: broken })?.deny).toContain('differs from the seal')
  expect(judge(change, { seal: broken })?.notice).toContain('gantry guard seal')
  expect(judge(change, { seal: broken, unlockedUntilMs: nowMs + 1 })?.deny).toBeUndefined()
  expect(judge(change, { seal: [] })).toBeNull()
  expect(judge(change, { seal: null })).toBeNull()
})

test('a broken seal is reported at the start and at every stop, and blocks nothing', () => {
  const start = judge({ kind: 'session_start', source: 'startup' }, { seal: broken })
  expect(start?.context).toContain('harness.json')
  expect(start?.notice).toContain('gantry guard seal')
  const end = judge(stop, { seal: broken })
  expect(Object.keys(end ?? {})).toEqual(['notice'])
  expect(judge(stop, { seal: [] })).toBeNull()
})

test('the seal is checked on settings changes, starts and stops, never for a tool call', () => {
  const wants = (happening: HookEventDetail) => {
    const base = { agent: 'codex', session: 's', agentId: null, agentType: null, promptId: null } as const
    const event: HookEvent = { ...base, cwd: root, root, ...happening }
    return protectItself.wants?.({
      event,
      world,
      traits: {},
      nowMs,
      settings: defaultSettings,
      history: historyFold.initial,
    })
  }
  expect(wants(stop)).toEqual(['seal'])
  expect(wants(write('a'))).toEqual([])
})
