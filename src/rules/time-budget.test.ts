import { expect, test } from 'vitest'
import type { HookEvent } from '../core/hook-event.ts'
import { historyFold } from '../guard-engine/history/index.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import type { RuleAnswer, Scene } from './contract.ts'
import { timeBudget } from './time-budget.ts'

const startedMs = Date.parse('2026-01-01T00:00:00Z')
const event: HookEvent = {
  agent: 'claude-code',
  session: 's',
  agentId: null,
  agentType: null,
  promptId: null,
  cwd: '/repo',
  root: '/repo',
  kind: 'tool_after',
  call: { id: null, tool: 'Read', action: { kind: 'read', path: null }, input: {} },
  outcome: {
    kind: 'success',
    exitCode: null,
    output: '',
    interrupted: false,
    timedOut: false,
    background: false,
  },
}

interface Moment {
  readonly seconds: number
  readonly budget?: number
  readonly enabled?: boolean
  readonly warned?: readonly string[]
  readonly total?: number
  readonly clock?: number
}

function judge({
  seconds,
  budget = 100,
  enabled = true,
  warned = [],
  total = 1,
  clock,
}: Moment): RuleAnswer | null {
  const { initial } = historyFold
  const latestMs = startedMs + seconds * 1000
  const scene: Scene = {
    event,
    history: {
      ...initial,
      calls: { ...initial.calls, total },
      session: { ...initial.session, startedAt: new Date(startedMs).toISOString(), latestMs, warned },
    },
    settings: {
      ...defaultSettings,
      contextInjection: { ...defaultSettings.contextInjection, enabled, timeBudgetSeconds: budget },
    },
    facts: { tree: null, project: null, edited: [], verify: [], seal: null, tests: null, protected: null },
    world: {
      home: '/',
      platform: 'linux',
      env: {},
      own: [],
      resolve: (path) => ({ real: path, kind: 'missing', id: null, links: 0 }),
      list: () => null,
      readText: () => null,
    },
    traits: {},
    nowMs: clock === undefined ? latestMs : startedMs + clock * 1000,
  }
  return timeBudget.judge(scene)
}

const notes = (answer: RuleAnswer | null): string[] =>
  (answer?.remember ?? []).map((note) => (note.kind === 'warned' ? note.about : note.kind))

test('nothing is reported without a budget, or before half of it is used', () => {
  expect(judge({ seconds: 9_999, budget: 0 })).toBeNull()
  expect(judge({ seconds: 9_999, enabled: false })).toBeNull()
  expect(judge({ seconds: 49 })).toBeNull()
})

test('50%, 80% and the end are reported once each', () => {
  const warned: string[] = []
  const texts: (string | undefined)[] = []
  for (const seconds of [10, 50, 60, 79, 80, 99, 100, 101, 150]) {
    const answer = judge({ seconds, warned })
    if (answer !== null) texts.push(answer.context?.slice(0, 25))
    warned.push(...notes(answer))
  }
  expect(texts).toEqual([
    '50% of the time budget is',
    '80% of the time budget is',
    'The time budget is used u',
  ])
})

test('a long call that passes two marks gets only the later one', () => {
  const answer = judge({ seconds: 85 })
  expect(answer?.context).toContain('80% of the time budget is used: 1m 25s of 1m 40s')
  expect(notes(answer)).toEqual(['time budget 50%', 'time budget 80%'])
  expect(judge({ seconds: 86, warned: notes(answer) })).toBeNull()
})

test('at the end the user is notified too, and then every tenth call reminds the agent', () => {
  const over = judge({ seconds: 100 })
  expect(over?.notice).toContain('used up')
  const warned = notes(over)
  expect(warned).toHaveLength(3)
  const reminded = Array.from({ length: 30 }, (_, index) => index + 1).filter(
    (total) => judge({ seconds: 120, warned, total })?.context !== undefined,
  )
  expect(reminded).toEqual([10, 20, 30])
  expect(judge({ seconds: 120, warned, total: 10 })?.notice).toBeUndefined()
})

test('a clock that goes back adds no time and repeats nothing', () => {
  const first = judge({ seconds: 81, clock: 81 })
  expect(judge({ seconds: 81, clock: 5, warned: notes(first) })).toBeNull()
  expect(judge({ seconds: 100, clock: 5, warned: notes(first) })?.context).toContain('used up')
})
