import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LedgerEntry, StoredCall } from '../../guard-engine/contract.ts'
import { readTrace } from './read-trace.ts'
import type { TraceReport } from './trace-report.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-trace-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

async function reportOf(lines: readonly object[], sinceMs?: number): Promise<TraceReport> {
  const file = join(dir, 'log.jsonl')
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return readTrace({ files: [file], editThreshold: 5, ...(sinceMs !== undefined && { sinceMs }) })
}

const at = (second: number): string => new Date(1_760_000_000_000 + second * 1000).toISOString()
const record = (second: number, tool: string, input: unknown, more: object = {}): object => ({
  timestamp: at(second),
  tool,
  input,
  result: 'success',
  ...more,
})

function event(
  id: string,
  second: number,
  kind: 'tool_before' | 'tool_after' | 'tool_denied' | 'stop',
  call?: Partial<StoredCall>,
): LedgerEntry {
  return {
    kind: 'event',
    id,
    at: at(second),
    event: {
      kind,
      agent: 'claude-code',
      session: 's',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: '/repo',
      facts: {},
      ...(call !== undefined && {
        call: { id: null, tool: 'Bash', action: 'shell', paths: [], signature: 'x', input: {}, ...call },
      }),
    },
  }
}

function decision(
  of: string,
  second: number,
  verdict: 'pass' | 'deny' | 'refuse',
  rule = 'protect-files',
): LedgerEntry {
  return {
    kind: 'decision',
    id: `d_${of}`,
    at: at(second),
    of,
    verdict,
    reason: null,
    context: null,
    notice: null,
    findings: verdict === 'pass' ? [] : [{ rule, verdict, text: 'no' }],
    notes: [],
    engineMs: 1,
  }
}

test('a ledger has calls, durations, denials by rule and refused stops', async () => {
  const ended = { kind: 'success', exitCode: 0, signature: 'r', head: '' } as const
  const report = await reportOf([
    { ...event('1', 0, 'tool_before', { id: 'a', command: 'npm test' }), mac: 'abc' },
    decision('1', 0, 'pass'),
    event('2', 9, 'tool_after', { id: 'a', command: 'npm test', outcome: ended }),
    decision('2', 9, 'pass'),
    event('3', 10, 'tool_before', { id: 'b', tool: 'Write', action: 'write', paths: ['/repo/.env'] }),
    decision('3', 10, 'deny'),
    event('4', 11, 'tool_denied', { id: 'c', tool: 'Bash', command: 'rm -rf x' }),
    event('5', 12, 'stop'),
    decision('5', 12, 'refuse', 'completion-gate'),
    { kind: 'note', id: 'n', at: at(13), note: { kind: 'warned', about: 'x' } },
  ])
  expect(report.source).toMatchObject({ kind: 'ledger', broken_lines: 0 })
  expect(report.total).toBe(3)
  expect(report.results).toEqual({ success: 1, failure: 0, denied: 2, unknown: 0 })
  expect(report.tools.find(({ tool }) => tool === 'Bash')).toMatchObject({ calls: 2, duration_ms: 9000 })
  expect(report.refusals).toEqual(
    expect.arrayContaining([
      { rule: 'protect-files', denied: 1, refused: 0 },
      { rule: 'outside the guard', denied: 1, refused: 0 },
      { rule: 'completion-gate', denied: 0, refused: 1 },
    ]),
  )
  expect(report.timeline.lanes.map(({ name }) => name)).toContain('refusal to stop')
  expect(report.hot_files).toEqual([])
})

test('the suggested threshold is above the edits that files took until tests were green', async () => {
  const lines: object[] = []
  for (let round = 0; round < 40; round += 1) {
    for (let edit = 0; edit < 1 + (round % 4); edit += 1)
      lines.push(record(lines.length, 'Edit', { file_path: `/repo/f${round}.ts` }))
    lines.push(record(lines.length, 'Bash', { command: 'npm test' }))
  }
  const { loops, suggestions } = await reportOf(lines)
  expect(loops.edits_until_green).toEqual({ rounds: 40, median: 2, p95: 4 })
  expect(loops.suggested_threshold).toBe(5)
  expect(suggestions.join(' ')).not.toContain('Set loop_detection')
  const more = lines.flatMap((line, index) => [line, record(index, 'Write', { file_path: '/repo/hot.ts' })])
  const hot = await reportOf(more)
  expect(hot.loops.suggested_threshold).toBeGreaterThan(4)
})

test('failed and denied edits do not count, and a test run with a masked exit code proves nothing', async () => {
  const edit = { file_path: '/repo/a.ts' }
  const { hot_files, verification, loops } = await reportOf([
    record(0, 'Edit', edit),
    record(1, 'Edit', edit, { result: 'failure' }),
    record(2, 'Edit', edit, { result: 'denied' }),
    record(3, 'Bash', { command: 'npm test || true' }),
    record(4, 'Bash', { command: 'npm test | tail -5' }),
    record(5, 'Bash', { command: 'echo pytest' }),
    record(6, 'Bash', { command: 'npm test' }, { result: 'failure' }),
  ])
  expect(hot_files).toMatchObject([{ edits: 1 }])
  expect(loops.edits_until_green.rounds).toBe(0)
  expect(verification.map(({ command, passed, failed }) => [command, passed, failed])).toEqual([
    ['npm test || true', 0, 0],
    ['npm test | tail -5', 0, 0],
    ['npm test', 0, 1],
  ])
})

test('repeated failures are reported once with the longest run, waiting and success are not', async () => {
  const fail = { result: 'failure' }
  const lines = [
    ...Array.from({ length: 4 }, (_, index) => record(index, 'Bash', { command: 'npm test' }, fail)),
    record(9, 'Read', { file_path: 'a' }),
    ...Array.from({ length: 6 }, (_, index) =>
      record(
        10 + index,
        'Bash',
        { command: index % 2 === 0 ? 'make a' : 'make b' },
        index % 2 === 0 ? fail : {},
      ),
    ),
    ...Array.from({ length: 9 }, (_, index) => record(20 + index, 'Bash', { command: 'git status' }, fail)),
    ...Array.from({ length: 9 }, (_, index) => record(30 + index, 'Bash', { command: 'make c' })),
  ]
  const { loops } = await reportOf(lines)
  expect(loops.repeats).toEqual([
    { calls: ['Bash: make a', 'Bash: make b'], times: 3 },
    { calls: ['Bash: npm test'], times: 4 },
  ])
})

test('every verification run is listed, with its whole command', async () => {
  const commands = Array.from({ length: 30 }, (_, index) => `pytest ${'x'.repeat(300)}${index}`)
  const lines = commands.map((command, index) => record(index, 'Bash', { command }))
  const { verification } = await reportOf(lines)
  expect(verification.map(({ command }) => command).toSorted()).toEqual(commands.toSorted())
})

test('a check that is no known test runner is a verification run when the guard counted it', async () => {
  const lines = [
    record(1, 'Bash', { command: 'sh test.sh' }, { verifies: 'other' }),
    record(2, 'Bash', { command: 'sh build.sh' }),
    record(3, 'Edit', { file_path: 'a.js' }),
  ]
  const { verification, suggestions } = await reportOf(lines)
  expect(verification).toEqual([{ command: 'sh test.sh', kind: 'other', runs: 1, passed: 1, failed: 0 }])
  expect(suggestions, 'it was declared').toEqual([])
})

test('calls with the same label but different input are different calls', async () => {
  const lines = Array.from({ length: 6 }, (_, index) =>
    record(index, 'Edit', { file_path: '/a' }, { result: 'failure', signature: `s${index}` }),
  )
  expect((await reportOf(lines)).loops.repeats).toEqual([])
})

test('agents are counted separately', async () => {
  const lines = Array.from({ length: 4 }, (_, index) =>
    record(index, 'Bash', { command: 'npm test' }, { result: 'failure', agent_id: `a${index % 2}` }),
  )
  expect((await reportOf(lines)).loops.repeats).toEqual([])
})

test('a clock that goes back makes no negative time and loses no calls', async () => {
  const report = await reportOf([
    record(100, 'Read', {}),
    record(160, 'Read', {}),
    record(10, 'Read', {}),
    record(170, 'Read', {}),
  ])
  expect(report.time).toMatchObject({ span_ms: 70_000, longest_pause_ms: 60_000 })
  expect(report.timeline.lanes).toMatchObject([{ name: 'Read', calls: 4 }])
})

test('the timeline has a bounded number of slots for any log, and loses no calls', async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) =>
    record(index * 3_600, `Tool${index % 30}`, {}, { result: index % 100 === 0 ? 'denied' : 'success' }),
  )
  const { timeline, total } = await reportOf(lines)
  expect(timeline.slots).toBeLessThanOrEqual(480)
  expect(timeline.slots).toBeGreaterThan(200)
  expect(timeline.lanes.length).toBeLessThanOrEqual(13)
  expect(timeline.lanes.reduce((sum, { calls }) => sum + calls, 0)).toBe(total)
  expect(timeline.lanes.at(-1)?.name).toBe('other')
  const denied = timeline.lanes.flatMap(({ marks }) => marks).reduce((sum, mark) => sum + mark.denied, 0)
  expect(denied).toBe(50)
})

test('with too many files, the hottest one is kept and the others are summed up', async () => {
  const lines: object[] = []
  for (let index = 0; index < 30_000; index += 1) {
    lines.push({ tool: 'Edit', input: { file_path: `/f${index}` }, result: 'success' })
    if (index % 100 === 0) lines.push({ tool: 'Edit', input: { file_path: '/hot' }, result: 'success' })
  }
  const { hot_files, source } = await reportOf(lines)
  expect(hot_files[0]).toMatchObject({ path: '/hot', edits: 300 })
  expect(source.summed_up).toBeGreaterThan(0)
})
