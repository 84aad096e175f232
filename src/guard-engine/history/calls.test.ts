import { expect, test } from 'vitest'
import type { CallHistory, LedgerEntry, StoredCall } from '../contract.ts'
import { callFold } from './calls.ts'

let entries = 0

function event(
  kind: 'tool_before' | 'tool_after' | 'tool_denied',
  call: Partial<StoredCall>,
  tree?: string,
): LedgerEntry {
  entries += 1
  return {
    kind: 'event',
    id: `e${entries}`,
    at: '2026-01-01T00:00:00Z',
    event: {
      kind,
      agent: 'gemini',
      session: 's',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: '/repo',
      call: { id: null, tool: 'Bash', action: 'shell', paths: [], signature: 'sig', input: {}, ...call },
      facts: tree === undefined ? {} : { tree },
    },
  }
}

function decision(of: string, verdict: 'pass' | 'deny'): LedgerEntry {
  return {
    kind: 'decision',
    id: `d${of}`,
    at: '2026-01-01T00:00:00Z',
    of,
    verdict,
    reason: null,
    context: null,
    notice: null,
    findings: [],
    notes: [],
    engineMs: 1,
  }
}

const fold = (...list: readonly LedgerEntry[]): CallHistory => list.reduce(callFold.apply, callFold.initial)

test('a call stays open until its end is decided, so that rules see the tree before it', () => {
  const begun = event('tool_before', { id: 'a' }, 't1')
  const ended = event('tool_after', { id: 'a' }, 't2')
  expect(fold(begun, decision(begun.id, 'pass')).open).toMatchObject({ a: { tree: 't1' } })
  expect(fold(begun, ended).open).toMatchObject({ a: { tree: 't1', ended: ended.id } })
  expect(fold(begun, ended, decision(ended.id, 'pass')).open).toEqual({})
})

test('a denied call is not open, whether the guard or the user denied it', () => {
  const begun = event('tool_before', { id: 'a' })
  expect(fold(begun, decision(begun.id, 'deny')).open).toEqual({})
  expect(fold(begun, event('tool_denied', { id: 'a' })).open).toEqual({})
})

test('calls without an id are identified by their signature', () => {
  expect(Object.keys(fold(event('tool_before', { signature: 'abc' })).open)).toEqual(['abc'])
})

test('calls and failures are counted exactly, but only a limited number is stored', () => {
  const outcome = (kind: 'success' | 'failure') => ({ kind, exitCode: 1, signature: 'r', head: '' }) as const
  const list = Array.from({ length: 500 }, (_, index) => [
    event('tool_before', { id: `c${index}`, signature: `s${index}` }),
    event('tool_after', { id: `x${index}`, outcome: outcome(index % 5 === 0 ? 'failure' : 'success') }),
  ]).flat()
  const { total, failures, recent, open } = fold(...list)
  expect({ total, failures }).toEqual({ total: 500, failures: 100 })
  expect(recent.length).toBe(64)
  expect(Object.keys(open)).toHaveLength(64)
  expect(open.c499).toBeDefined()
})

test('a label is one short line without invisible characters', () => {
  const [call] = fold(event('tool_after', { command: `echo \u001b[31m\u202e\n${'x'.repeat(500)}` })).recent
  expect(call?.label.length).toBeLessThanOrEqual(120)
  expect(call?.label).not.toMatch(/[\u001b\u202e\n]/)
})

test('a fold is pure: it does not change its input', () => {
  const before = fold(event('tool_before', { id: 'a' }))
  const copy = JSON.stringify(before)
  callFold.apply(before, event('tool_after', { id: 'a' }))
  expect(JSON.stringify(before)).toBe(copy)
})
