import { join } from 'node:path'
import type { GantryEvent } from '../core/event.ts'
import { createSummary, type SummaryOptions } from '../core/summarize.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { readJsonl } from '../io/jsonl.ts'
import type { RunRow, StoredRun } from '../store/contract.ts'
import type { FinishedRun, TrialHeader } from './contract.ts'

export interface StoredRunFacts {
  /** The row of the run in a list: whether it has ended, and how long it took. */
  readonly row: RunRow
  /** Summary options of the run; needed when it was killed before it wrote its summary. */
  readonly judging?: SummaryOptions
  readonly concurrency?: number
  /** Hides personal data in what people read and share. */
  readonly forPeople: (value: unknown) => unknown
  readonly diagnose: (trial: TrialRecord) => readonly string[]
}

/** A stored run as reporters need it, ended or not. A summary older than the run's last trials is not used. */
export async function finishedRun(run: StoredRun, facts: StoredRunFacts): Promise<FinishedRun> {
  const { row, forPeople, diagnose } = facts
  const manifest = run.manifest()
  const planned = run.plan()?.trials ?? []
  const finished = new Set<string>()
  for await (const { id } of run.trials()) finished.add(id)
  const open = planned.filter(({ id }) => !finished.has(id))
  const headers = open.filter(isHeader)
  const summary =
    (manifest.status === 'running' ? null : run.summary()) ?? (await folded(run, facts, open.length))
  const startedAt = manifest.timestamp_start
  return {
    runId: run.id,
    runDir: run.dir,
    title: manifest.title,
    trials: finished.size + open.length,
    concurrency: facts.concurrency ?? 1,
    startedAt,
    endedAt: row.endedAt ?? new Date(Date.parse(startedAt) + summary.durationMs).toISOString(),
    summary,
    version: manifest.versions.gantry,
    records: () => run.trials(),
    events: (trial) => eventsForPeople(trial, forPeople),
    diagnose,
    interrupted: row.status === 'interrupted',
    ...(headers.length === summary.notRun && { notRun: headers }),
    ...(row.live && { nextSteps: ['The run is still in progress. This is what has finished so far'] }),
  }
}

async function folded(run: StoredRun, { row, judging }: StoredRunFacts, notRun: number): Promise<RunSummary> {
  const fold = createSummary(judging)
  for await (const record of run.trials()) fold.add(record)
  return fold.finish({ durationMs: row.totals?.duration_ms ?? 0, notRun })
}

function isHeader(trial: { readonly id: string }): trial is TrialHeader {
  return (
    'case' in trial &&
    typeof trial.case === 'string' &&
    'agent' in trial &&
    typeof trial.agent === 'string' &&
    'model' in trial &&
    typeof trial.model === 'string' &&
    'attempt' in trial &&
    typeof trial.attempt === 'number'
  )
}

/** A trial's events for sharing: `forPeople` hides personal data. */
export async function* eventsForPeople(
  { dir }: TrialRecord,
  forPeople: (value: unknown) => unknown,
): AsyncGenerator<GantryEvent> {
  // Redaction changes texts, not the structure.
  for await (const event of readJsonl<GantryEvent>(join(dir, 'events.jsonl')))
    yield forPeople(event) as GantryEvent
}
