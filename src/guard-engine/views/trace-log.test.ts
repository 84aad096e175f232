import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EventEntry, StoredCall } from '../contract.ts'
import { appendTrace, type TraceRecord, traceLogPaths, traceRecord } from './trace-log.ts'

const all = { enabled: true, logToolCalls: true, logFileEdits: true, maxLogSizeMb: 10 }

function entry(kind: EventEntry['event']['kind'], call?: Partial<StoredCall>): EventEntry {
  return {
    kind: 'event',
    id: 'e1',
    at: '2026-01-01T00:00:00.000Z',
    event: {
      kind,
      agent: 'claude-code',
      session: 's1',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: '/repo',
      facts: {},
      ...(call !== undefined && {
        call: {
          id: 'c',
          tool: 'Bash',
          action: 'shell',
          paths: [],
          signature: 'x',
          input: { command: 'ls' },
          ...call,
        },
      }),
    },
  }
}

const ended = (kind: 'success' | 'failure' | 'unknown'): Partial<StoredCall> => ({
  outcome: {
    kind,
    exitCode: kind === 'failure' ? 2 : null,
    signature: 'r',
    head: '\n boom\nmore',
    durationMs: 5,
  },
})
const denial = {
  verdict: 'deny',
  findings: [{ rule: 'protect-files', verdict: 'deny', text: 'no' }],
} as const

test('a record starts with the documented keys and has success, failure, denial or unknown', () => {
  const success = traceRecord(entry('tool_after', ended('success')), null, all)
  expect(Object.keys(success ?? {}).slice(0, 4)).toEqual(['timestamp', 'tool', 'input', 'result'])
  expect(success).toMatchObject({ tool: 'Bash', input: { command: 'ls' }, result: 'success', duration_ms: 5 })
  expect(traceRecord(entry('tool_after', ended('failure')), null, all)).toMatchObject({
    result: 'failure',
    exit_code: 2,
    error: 'boom',
  })
  expect(traceRecord(entry('tool_after', ended('unknown')), null, all)?.result).toBe('unknown')
  expect(traceRecord(entry('tool_denied', {}), null, all)).toMatchObject({ result: 'denied' })
  expect(traceRecord(entry('tool_before', {}), denial, all)).toMatchObject({
    result: 'denied',
    rule: 'protect-files',
  })
})

test('a run of a check is marked as one, also when it proves nothing', () => {
  const notes = [{ kind: 'no_evidence', command: './lint.sh', why: 'it could not be executed' }] as const
  const decision = { verdict: 'pass', findings: [], notes } as const
  expect(traceRecord(entry('tool_after', ended('failure')), decision, all)?.verifies).toBe('other')
})

test('a call before it runs, and an event without a call, leave no record', () => {
  expect(traceRecord(entry('tool_before', {}), { verdict: 'pass', findings: [] }, all)).toBeNull()
  expect(traceRecord(entry('tool_before', {}), null, all)).toBeNull()
  expect(traceRecord(entry('stop'), null, all)).toBeNull()
})

test('each setting leaves out exactly what it names', () => {
  const edit = entry('tool_after', { ...ended('success'), tool: 'Edit', action: 'edit' })
  const call = entry('tool_after', ended('success'))
  const kept = (settings: Partial<typeof all>): boolean[] =>
    [edit, call].map((each) => traceRecord(each, null, { ...all, ...settings }) !== null)
  expect(kept({})).toEqual([true, true])
  expect(kept({ logFileEdits: false })).toEqual([false, true])
  expect(kept({ logToolCalls: false })).toEqual([true, false])
  expect(kept({ enabled: false })).toEqual([false, false])
})

let dir: string
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'gantry-trace-')), 'state')
})
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }))

function record(number: number, bytes = 200): TraceRecord {
  return { timestamp: '', tool: 'T', input: { number, pad: 'x'.repeat(bytes) }, result: 'success' }
}

function numbers(): number[] {
  return traceLogPaths(dir)
    .filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).input.number)
}

test('the directory is created, and lines are in order', () => {
  for (let number = 0; number < 5; number += 1) appendTrace({ dir, record: record(number), maxLogSizeMb: 10 })
  expect(numbers()).toEqual([0, 1, 2, 3, 4])
  expect(readdirSync(dir)).toEqual(['trace-log.jsonl'])
})

test('a full log is rotated, three are kept, and no log exceeds the limit', () => {
  const maxLogSizeMb = 8 / 1024
  for (let number = 0; number < 300; number += 1) appendTrace({ dir, record: record(number), maxLogSizeMb })
  expect(readdirSync(dir).toSorted()).toEqual([
    'trace-log.1.jsonl',
    'trace-log.2.jsonl',
    'trace-log.3.jsonl',
    'trace-log.jsonl',
  ])
  for (const path of traceLogPaths(dir)) expect(statSync(path).size).toBeLessThanOrEqual(8 * 1024)
  const kept = numbers()
  expect(kept.at(-1)).toBe(299)
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 300 - kept.length + index))
})

test('a line longer than the limit is still written', () => {
  appendTrace({ dir, record: record(1, 50_000), maxLogSizeMb: 0 })
  appendTrace({ dir, record: record(2, 50_000), maxLogSizeMb: 0 })
  expect(numbers()).toEqual([1, 2])
})

test('a torn line affects only itself', () => {
  appendTrace({ dir, record: record(1), maxLogSizeMb: 10 })
  const path = traceLogPaths(dir).at(-1) ?? ''
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"timestamp":"2026`)
  appendTrace({ dir, record: record(2), maxLogSizeMb: 10 })
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(JSON.parse(lines[2] ?? '').input.number).toBe(2)
})

test('a link in its place is replaced, and its target is not changed', () => {
  appendTrace({ dir, record: record(1), maxLogSizeMb: 10 })
  const path = traceLogPaths(dir).at(-1) ?? ''
  const target = join(dir, 'precious')
  writeFileSync(target, 'precious')
  rmSync(path)
  symlinkSync(target, path)
  appendTrace({ dir, record: record(2), maxLogSizeMb: 10 })
  expect(readFileSync(target, 'utf8')).toBe('precious')
  expect(numbers()).toEqual([2])
})
