import type { TrialRecord } from '../../core/trial.ts'

/** How far a plan run is, folded from the records of its iterations and from nothing else. */
export interface Progress {
  /** Those that really happened. */
  readonly iterations: number
  /** By task: attempts that were not accepted. */
  readonly attempts: ReadonlyMap<string, number>
  /** Iterations in a row, up to the last, that did not really happen. */
  readonly lostInRow: number
  readonly spentUsd: number
  /** Iterations whose cost nobody knows. */
  readonly unmetered: number
}

export const noProgress: Progress = {
  iterations: 0,
  attempts: new Map(),
  lostInRow: 0,
  spentUsd: 0,
  unmetered: 0,
}

export type IterationEnd = Pick<TrialRecord, 'case' | 'verdict' | 'costUsd'>

export function withIteration(progress: Progress, { case: key, verdict, costUsd }: IterationEnd): Progress {
  const paid = {
    spentUsd: progress.spentUsd + (costUsd ?? 0),
    unmetered: progress.unmetered + (costUsd === null ? 1 : 0),
  }
  if (verdict === 'infra' || verdict === 'invalid')
    return { ...progress, ...paid, lostInRow: progress.lostInRow + 1 }
  const failed = (progress.attempts.get(key) ?? 0) + (verdict === 'fail' ? 1 : 0)
  const attempts = new Map(progress.attempts).set(key, failed)
  return { ...paid, iterations: progress.iterations + 1, attempts, lostInRow: 0 }
}

/** null when nothing that was done has a known cost. */
export function costSoFar({ spentUsd, iterations, lostInRow, unmetered }: Progress): number | null {
  return unmetered > 0 && unmetered >= iterations + lostInRow ? null : spentUsd
}
