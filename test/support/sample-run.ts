import { gunzipSync } from 'node:zlib'
import { createSummary } from '../../src/core/create-summary.ts'
import type { GantryEvent } from '../../src/core/event.ts'
import type { Regression } from '../../src/core/summary.ts'
import type { InteractionMetrics, TrialRecord } from '../../src/core/trial.ts'
import type { FinishedRun } from '../../src/report/contract.ts'

const sampleMetrics: InteractionMetrics = {
  total_commands: 8,
  unique_commands: 6,
  error_count: 2,
  error_rate: 0.25,
  retry_count: 2,
  retry_rate: 0.25,
  help_invocations: 1,
  first_try_success_rate: 0.75,
  iteration_ratio: 0.75,
  completed: true,
  source: 'events',
  subcommands: { add: { total: 5, unique: 4, errors: 2, retries: 1, help: 1 } },
}

/** A finished run made from records in memory, with the summary the kernel itself would make. For tests of reporters. */
export function sampleRun(
  records: readonly TrialRecord[],
  more: Partial<FinishedRun> & {
    readonly regressions?: readonly Regression[]
    readonly maxInfraRate?: number
    readonly threshold?: number
  } = {},
): FinishedRun {
  const { regressions = [], maxInfraRate = 1, threshold = 1, ...overrides } = more
  const fold = createSummary({ maxInfraRate, threshold })
  for (const record of records) fold.add(record)
  const notRun = overrides.notRun?.length ?? 0
  return {
    runId: 'run_20260102_030405_abc123',
    runDir: '/artifacts/runs/run_20260102_030405_abc123',
    title: 'notes suite',
    trials: records.length + notRun,
    concurrency: 4,
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:06:10.000Z',
    version: '0.1.0',
    summary: fold.finish({ durationMs: 125_000, notRun, regressions }),
    records: () => streamed(records),
    events: () => streamed<GantryEvent>([]),
    ...overrides,
  }
}

export function sampleRecord(changes: Partial<TrialRecord> = {}): TrialRecord {
  const { case: name = 'create-note', agent = 'claude-code', attempt = 1 } = changes
  return {
    id: `${name}-${agent}-${attempt}`,
    case: name,
    file: `scenarios/${name}.yaml`,
    agent,
    model: 'opus',
    attempt,
    verdict: 'pass',
    reason: 'all 2 gates passed',
    gates: [
      { type: 'file_exists', passed: true, message: 'notes.md exists', detail: { path: 'notes.md' } },
      { type: 'command_succeeds', passed: true, message: 'exit code 0', detail: { exit_code: 0 } },
    ],
    metrics: sampleMetrics,
    judge: null,
    evaluators: [],
    score: null,
    tier: null,
    costUsd: 0.0421,
    tokens: { input: 12_000, output: 800, cacheRead: 9_000, cacheWrite: 0 },
    durationMs: 12_340,
    ending: 'exited',
    agentExitCode: 0,
    dir: `/artifacts/runs/run_20260102_030405_abc123/trials/${name}-${attempt}`,
    tags: ['smoke'],
    infraRetries: 0,
    cachedFrom: null,
    cacheKey: null,
    startedAt: '2026-01-02T03:04:05.000Z',
    warnings: [],
    ...changes,
  }
}

/** One of everything: passes, a judged pass, failures with gates, a judge's no, infra, invalid, a cached and an unmetered trial. */
export const sampleRecords: readonly TrialRecord[] = [
  sampleRecord(),
  sampleRecord({ attempt: 2, cachedFrom: 'run_20260101_000000_zzzzzz' }),
  sampleRecord({
    attempt: 3,
    verdict: 'fail',
    reason: '1 of 2 gates failed',
    gates: [
      { type: 'file_exists', passed: true, message: 'notes.md exists', detail: { path: 'notes.md' } },
      {
        type: 'command_succeeds',
        passed: false,
        message: 'notes check ended with exit code 2',
        detail: {
          command: 'notes check',
          exit_code: 2,
          unexpected_paths: ['tmp/a.txt', 'tmp/b.txt'],
          output: Array.from({ length: 14 }, (_, index) => `line ${index + 1}`).join('\n'),
        },
      },
    ],
  }),
  sampleRecord({
    case: 'link-notes',
    agent: 'codex',
    model: 'default',
    costUsd: null,
    tokens: null,
    score: 0.91,
    tier: 'Excellent',
    judge: {
      model: 'judge-model',
      passed: true,
      threshold: 0.7,
      weighted_score: 0.83,
      scores: { structure: 0.8, coverage: 0.86 },
      confidence: 0.9,
      issues: ['one link is missing'],
      highlights: ['clear titles'],
      samples: [
        {
          kind: 'scored',
          weighted_score: 0.83,
          scores: { structure: 0.8, coverage: 0.86 },
          confidence: 0.9,
          issues: ['one link is missing'],
          highlights: ['clear titles'],
        },
        { kind: 'error', message: 'the judge answered no JSON' },
      ],
      agreement: 0.95,
      costUsd: 0.002,
    },
    evaluators: [
      { name: 'link-count', score: 0.75, summary: '3 of 4 links', metrics: { links: 3 } },
      { name: 'style', error: 'exit code 1' },
    ],
  }),
  sampleRecord({
    case: 'search',
    agent: 'codex',
    model: 'default',
    verdict: 'infra',
    reason: 'the model refused the key',
    gates: [],
    ending: 'crashed',
    agentExitCode: null,
    infraRetries: 2,
  }),
  sampleRecord({
    case: 'broken-setup',
    verdict: 'invalid',
    reason: 'setup command 1 ended with exit code 127',
    gates: [],
    ending: 'not_started',
    agentExitCode: null,
    costUsd: 0,
  }),
]

export const sampleRegressions: readonly Regression[] = [
  {
    case: 'create-note',
    agent: 'claude-code',
    model: 'opus',
    kind: 'gate',
    severity: 'alert',
    message: 'gate 2 (command_succeeds) passed 3 of 3 times before and 2 of 3 times now',
  },
]

/** What a document reporter wrote, in one piece. */
export function textSink(): { readonly write: (text: string) => void; readonly text: () => string } {
  const pieces: string[] = []
  return { write: (text) => void pieces.push(text), text: () => pieces.join('') }
}

/** The HTML report as it is when all of its trials are open. */
export function unpacked(html: string): string {
  return html.replaceAll(/<template class="packed">([^<]*)<\/template>/g, (_, packed: string) =>
    gunzipSync(Buffer.from(packed, 'base64')).toString(),
  )
}

export async function* streamed<T>(values: Iterable<T>): AsyncGenerator<T> {
  for (const value of values) yield value
}
