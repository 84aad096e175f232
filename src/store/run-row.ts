import { basename, join } from 'node:path'
import { modifiedAtMs } from '../io/directory.ts'
import type { Manifest, RunRow, RunTotals, Store, TrialRow } from './contract.ts'
import { createTotals, type TotalsFold } from './create-totals.ts'
import { flagsOf, readManifestState } from './manifest.ts'
import { countPlanned } from './read-plan.ts'
import { readTrials } from './read-trials.ts'
import type { ParsedRunId } from './run-id.ts'
import { isLive } from './run-lock.ts'
import { runFile } from './run-paths.ts'
import { trialRow } from './trial-record.ts'

/** The index row of a run from its files, whatever state its directory is in. */
export function readRunRow(store: Store, parsed: ParsedRunId): RunRow {
  const dir = join(store.runsDir, parsed.id)
  const state = readManifestState(dir)
  return state.kind === 'whole' ? rowOf(store, dir, state.manifest) : unknownRow(dir, parsed)
}

/** What a run has so far: read from its files only when it has not ended. */
export interface RunSums {
  readonly totals: TotalsFold
  readonly planned: number
}

/** The same from a given manifest. */
export function rowOf(
  store: Store,
  dir: string,
  manifest: Manifest,
  sums: () => RunSums = () => ({
    totals: createTotals(readTrialRows(basename(dir), dir)),
    planned: countPlanned(dir),
  }),
): RunRow {
  const running = manifest.status === 'running'
  const live = running && isLive(dir)
  return {
    // Not that of the manifest: a copied directory is a run of its own.
    id: basename(dir),
    dir,
    kind: manifest.kind,
    title: manifest.title,
    status: running && !live ? 'interrupted' : manifest.status,
    live,
    startedAt: manifest.timestamp_start,
    endedAt: manifest.timestamp_end,
    totals: running ? totalsSoFar(store, dir, manifest, live, sums()) : manifest.totals,
    flags: flagsOf(manifest),
  }
}

/** Every finished trial of a run. A damaged one counts as not finished. */
export function* readTrialRows(runId: string, dir: string): Generator<TrialRow> {
  for (const record of readTrials(dir, 'skip')) yield trialRow(runId, record)
}

function unknownRow(dir: string, { id, format, startedAtMs }: ParsedRunId): RunRow {
  return {
    id,
    dir,
    kind: 'unknown',
    title: format === 'descriptive' ? id.slice('YYYYmmdd-HHMMSS-'.length) : '',
    status: 'unknown',
    live: isLive(dir),
    startedAt: new Date(startedAtMs).toISOString(),
    endedAt: null,
    totals: null,
    flags: [],
  }
}

/** Of a run that has not ended. */
export function totalsSoFar(
  store: Store,
  dir: string,
  manifest: Manifest,
  live: boolean,
  sums: RunSums,
): RunTotals {
  const begunAt = Date.parse(manifest.resumed_at.at(-1) ?? manifest.timestamp_start)
  const seenAt = live ? store.clock.now().getTime() : (modifiedAtMs(runFile.trialLog(dir)) ?? begunAt)
  const totals = sums.totals.finish({
    planned: sums.planned,
    durationMs: (manifest.totals?.duration_ms ?? 0) + Math.max(0, seenAt - begunAt),
  })
  // Of a run whose trials get their records only at its end.
  const { spent_usd: spentUsd } = manifest.details
  return typeof spentUsd === 'number' && spentUsd > (totals.cost_usd ?? 0)
    ? { ...totals, cost_usd: spentUsd }
    : totals
}
