import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { TrialRecord } from '../core/trial.ts'
import { moveIfExists } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { readJsonl } from '../io/jsonl.ts'
import { isFile, pathKind } from '../io/path-kind.ts'
import type { LiveRun, StoredRun } from '../store/contract.ts'
import type { AsideReason } from './contract.ts'

/** A line of the run's `events.jsonl`: an attempt without a record, and its cost. */
export interface PutAside {
  readonly ts: number
  readonly event: 'put_aside'
  readonly trial: string
  readonly why: AsideReason
  /** null = unmetered. */
  readonly cost_usd: number | null
}

/** Records the trial's cost, which a full disk must not lose, and renames its directory to the first free number. */
export function putAside(
  run: LiveRun,
  { id, costUsd }: Pick<TrialRecord, 'id' | 'costUsd'>,
  why: AsideReason,
  now: Date,
): void {
  run.appendEvent({
    ts: now.getTime() / 1000,
    event: 'put_aside',
    trial: id,
    why,
    cost_usd: costUsd,
  } satisfies PutAside)
  const dir = run.trialDir(id)
  let number = 1
  while (pathKind(`${dir}.${why}-${number}`) !== null) number += 1
  const aside = `${dir}.${why}-${number}`
  moveIfExists(dir, aside)
  // Only a directory with a `result.json` is a finished trial.
  moveIfExists(join(aside, 'result.json'), join(aside, 'result.aside.json'))
}

/** On a full disk, removes these directories of an attempt that cannot be used any more, so that its log can be written. */
export function makeRoom(error: unknown, directories: readonly string[]): void {
  if (error instanceof GantryError && error.code === 'NO_SPACE') directories.forEach(removeTree)
}

/** The cost of such attempts in a run so far. */
export async function asideCostUsd(run: Pick<StoredRun, 'dir'>): Promise<number> {
  const path = join(run.dir, 'events.jsonl')
  let sum = 0
  if (!isFile(path)) return 0
  for await (const line of readJsonl<Partial<PutAside>>(path)) {
    if (line.event === 'put_aside' && typeof line.cost_usd === 'number') sum += line.cost_usd
  }
  return sum
}

/**
 * The cost of such attempts that no record and no earlier call has counted, because the process was killed. `isRecorded`: the
 * trial has a result, which includes its earlier attempts. After it returns they are counted.
 */
export async function takeUncountedUsd(
  run: Pick<LiveRun, 'dir' | 'appendEvent'>,
  isRecorded: (trialId: string) => boolean,
  now: Date,
): Promise<number> {
  const path = join(run.dir, 'events.jsonl')
  if (!isFile(path)) return 0
  let uncounted: Partial<PutAside>[] = []
  for await (const line of readJsonl<{ readonly event?: string } & Partial<Omit<PutAside, 'event'>>>(path)) {
    if (line.event === 'aside_counted') uncounted = []
    if (line.event === 'put_aside') uncounted.push({ ...line, event: 'put_aside' })
  }
  if (uncounted.length > 0) run.appendEvent({ ts: now.getTime() / 1000, event: 'aside_counted' })
  return uncounted.reduce(
    (sum, { trial = '', cost_usd }) => sum + (isRecorded(trial) ? 0 : (cost_usd ?? 0)),
    0,
  )
}
