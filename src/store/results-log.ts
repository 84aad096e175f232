import { appendOnce } from '../io/append-log.ts'
import { openLines } from '../io/line-file.ts'
import { makePrivateDirectories } from '../io/private-files.ts'
import type { Manifest, RunTotals, Store, TrialRow } from './contract.ts'

export interface RunLine {
  readonly kind: 'run'
  readonly run_id: string
  readonly run_kind: string
  readonly title: string
  readonly status: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly totals: RunTotals | null
}

export function runLine(manifest: Manifest): RunLine {
  return {
    kind: 'run',
    run_id: manifest.run_id,
    run_kind: manifest.kind,
    title: manifest.title,
    status: manifest.status,
    started_at: manifest.timestamp_start,
    ended_at: manifest.timestamp_end,
    totals: manifest.totals,
  }
}

/** Appends lines in one write, so two processes never interleave. */
export function appendToResultsLog(store: Store, lines: readonly (TrialRow | RunLine)[]): void {
  if (lines.length === 0) return
  makePrivateDirectories(store.root)
  appendOnce(store.resultsFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** What the log already has, per run: its trials, and whether it has its end. */
export function publishedResults(store: Store): Map<string, PublishedRun> {
  const published = new Map<string, PublishedRun>()
  const log = openLines(store.resultsFile, headBytes)
  if (log === null) return published
  try {
    for (const { head } of log.spans()) note(published, head)
  } finally {
    log.close()
  }
  return published
}

export interface PublishedRun {
  readonly trialIds: Set<string>
  ended: boolean
}

/** Enough for the two ids, which come first in a line. */
const headBytes = 420

function note(published: Map<string, PublishedRun>, head: string): void {
  const match = /^\{"kind":"(trial|run)","run_id":"([^"\\]+)"(?:,"trial_id":"([^"\\]+)")?/.exec(head)
  if (match === null) return
  const [, kind, runId = '', trialId] = match
  const run = published.get(runId) ?? { trialIds: new Set<string>(), ended: false }
  published.set(runId, run)
  if (kind === 'run') run.ended = true
  else if (trialId !== undefined) run.trialIds.add(trialId)
}
