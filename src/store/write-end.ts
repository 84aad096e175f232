import { writeFileAtomic } from '../io/files.ts'
import type { RunEnd, Store, TrialRow } from './contract.ts'
import { changeManifest } from './manifest.ts'
import { plannedIds } from './read-plan.ts'
import { type RunLine, runLine } from './results-log.ts'
import { runFile } from './run-paths.ts'
import { runTotals } from './run-totals.ts'
import { updateManifest } from './update-manifest.ts'

export interface EndingRun {
  readonly store: Store
  readonly dir: string
  readonly end: RunEnd
  /** When this process took the run up. */
  readonly startedMs: number
  readonly rows: Iterable<TrialRow>
  /** Runs that cached records came from. */
  readonly references: Iterable<string>
}

/** Summary first, manifest after: a manifest that tells an end never lacks what belongs to it. */
export function writeEnd({ store, dir, end, startedMs, rows, references }: EndingRun): RunLine {
  const endedAt = store.clock.now()
  if (end.summary !== undefined) writeFileAtomic(runFile.summary(dir), `${JSON.stringify(end.summary)}\n`)
  const manifest = updateManifest(dir, (current) => ({
    ...changeManifest(changeManifest(current, end.change ?? {}), { refers_to: [...references] }),
    status: end.status,
    timestamp_end: endedAt.toISOString(),
    totals: runTotals(rows, {
      planned: plannedIds(dir, 'skip').length,
      durationMs: (current.totals?.duration_ms ?? 0) + endedAt.getTime() - startedMs,
    }),
  }))
  return runLine(manifest)
}
