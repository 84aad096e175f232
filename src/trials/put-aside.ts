import { join } from 'node:path'
import type { TrialRecord } from '../core/trial.ts'
import { moveIfExists } from '../io/directory.ts'
import { readJsonl } from '../io/jsonl.ts'
import { isFile, pathKind } from '../io/path-kind.ts'
import type { LiveRun, StoredRun } from '../store/contract.ts'
import type { AsideReason } from './contract.ts'

/** A line of the run's own `events.jsonl`: a try of a trial that ended in no record, and what it cost all the same. */
export interface PutAside {
  readonly ts: number
  readonly event: 'put_aside'
  readonly trial: string
  readonly why: AsideReason
  /** null = unmetered. */
  readonly cost_usd: number | null
}

/** Moves the trial's directory away, under the first free number, and writes down what it cost. */
export function putAside(run: LiveRun, { id, costUsd }: TrialRecord, why: AsideReason, now: Date): void {
  const dir = run.trialDir(id)
  let number = 1
  while (pathKind(`${dir}.${why}-${number}`) !== null) number += 1
  const aside = `${dir}.${why}-${number}`
  moveIfExists(dir, aside)
  // Only a directory with a `result.json` is a finished trial.
  moveIfExists(join(aside, 'result.json'), join(aside, 'result.aside.json'))
  run.appendEvent({
    ts: now.getTime() / 1000,
    event: 'put_aside',
    trial: id,
    why,
    cost_usd: costUsd,
  } satisfies PutAside)
}

/** What such tries have cost in a run so far. */
export async function asideCostUsd(run: Pick<StoredRun, 'dir'>): Promise<number> {
  const path = join(run.dir, 'events.jsonl')
  let sum = 0
  if (!isFile(path)) return 0
  for await (const line of readJsonl<Partial<PutAside>>(path)) {
    if (line.event === 'put_aside' && typeof line.cost_usd === 'number') sum += line.cost_usd
  }
  return sum
}
