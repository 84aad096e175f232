import { expect, test } from 'vitest'
import type { DeclaredCommand, EventEntry, LedgerEntry, Note, SessionHistory } from '../contract.ts'
import { sessionFold } from './session.ts'

const time = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

function event(
  kind: EventEntry['event']['kind'],
  minute: number,
  more: Partial<EventEntry['event']> = {},
): EventEntry {
  return {
    kind: 'event',
    id: `e${minute}`,
    at: time(minute),
    event: {
      kind,
      agent: 'claude-code',
      session: 's',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: '/p',
      facts: {},
      ...more,
    },
  }
}

function start(
  source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork',
  minute: number,
  commands?: readonly DeclaredCommand[],
): EventEntry {
  const project = commands === undefined ? null : { entries: [], truncated: false, commands, plan: null }
  return event('session_start', minute, { source, facts: commands === undefined ? {} : { project } })
}

function decision(notes: readonly Note[], rule?: string): LedgerEntry {
  return {
    kind: 'decision',
    id: 'd',
    at: time(0),
    of: 'e',
    verdict: 'pass',
    reason: null,
    context: rule === undefined ? null : 'text',
    notice: null,
    findings: rule === undefined ? [] : [{ rule, verdict: 'pass', text: 'text' }],
    notes,
    engineMs: 1,
  }
}

function fold(...entries: readonly LedgerEntry[]): SessionHistory {
  return entries.reduce(sessionFold.apply, sessionFold.initial)
}

const command = (text: string, source = 'AGENTS.md'): DeclaredCommand => ({
  command: text,
  kind: 'test',
  source,
  explicit: true,
})

test('a session starts with its first event, and its time never goes back', () => {
  const state = fold(start('startup', 10), event('prompt', 30), event('prompt', 5))
  expect(state).toMatchObject({ id: 's', startedAt: time(10), latestMs: Date.parse(time(30)), entries: 3 })
})

test('a resumed session gets a new start time, even when the clock went back', () => {
  const state = fold(start('startup', 10), event('prompt', 30), start('resume', 20))
  expect(state.startedAt).toBe(time(30))
  expect(fold(start('startup', 10), start('compact', 20)).startedAt).toBe(time(10))
})

test('an invalid time changes nothing', () => {
  const state = fold(start('startup', 10), { ...event('prompt', 11), at: 'yesterday' })
  expect(state.latestMs).toBe(Date.parse(time(10)))
})

test('context counts as injected only when its rule had a finding', () => {
  expect(fold(start('startup', 1), decision([], 'protect-itself')).contextInjected).toBe(false)
  const entries = [start('startup', 1), decision([], 'inject-context')]
  expect(fold(...entries).contextInjected).toBe(true)
  expect(fold(...entries, start('compact', 2)).contextInjected).toBe(true)
  expect(fold(...entries, start('clear', 2)).contextInjected).toBe(false)
})

test('the relay is kept through a compaction and cleared when the work continues', () => {
  const saved = [event('compact_before', 1), decision([{ kind: 'relay', text: 'state' }])]
  expect(fold(...saved)).toMatchObject({ relay: 'state', compactedAt: time(1) })
  expect(fold(...saved, event('subagent_stop', 2), start('compact', 3))).toMatchObject({
    relay: 'state',
    compactedAt: time(3),
  })
  expect(fold(...saved, event('tool_before', 2)).relay).toBeNull()
  expect(fold(...saved, event('prompt', 2)).relay).toBeNull()
})

test('commands declared at the start cannot be removed by changing the files', () => {
  const declared = (...entries: readonly LedgerEntry[]): string[] =>
    fold(...entries).declared.map((one) => one.command)
  const first = start('startup', 1, [command('npm test'), command('tox')])
  expect(declared(first, start('compact', 2, [command('tox'), command('true')]))).toEqual([
    'tox',
    'true',
    'npm test',
  ])
  expect(declared(first, start('resume', 2, []))).toEqual(['npm test', 'tox'])
  expect(declared(first, start('compact', 2))).toEqual(['npm test', 'tox'])
  expect(declared(first, event('stop', 2, { facts: { project: null } }))).toEqual(['npm test', 'tox'])
  expect(declared(first, start('startup', 2, [command('make')]))).toEqual(['make'])
})

test('for commands in settings, the current settings count', () => {
  const first = start('startup', 1, [command('old', 'harness.json')])
  expect(fold(first, start('resume', 2, [command('new', 'harness.json')])).declared).toEqual([
    command('new', 'harness.json'),
  ])
})

test('warnings are stored once each, up to a limit, until the session starts again', () => {
  const warn = (about: string): LedgerEntry => decision([{ kind: 'warned', about }])
  const entries = Array.from({ length: 300 }, (_, index) => warn(`w${index}`))
  const state = fold(...entries, warn('w299'))
  expect(state.warned).toHaveLength(200)
  expect(state.warned.at(-1)).toBe('w299')
  expect(fold(...entries, start('compact', 1)).warned).toHaveLength(200)
  expect(fold(...entries, start('clear', 1)).warned).toEqual([])
})

test('a note of a person counts like one of a rule', () => {
  expect(fold({ kind: 'note', id: 'n', at: time(1), note: { kind: 'relay', text: 'x' } }).relay).toBe('x')
})
