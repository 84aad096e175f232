import type { TrialRecord } from '../../core/trial.ts'
import type { Verdict } from '../../core/verdict.ts'
import type { RunHeader, TrialHeader } from '../contract.ts'

/** How far a run is. Holds only what is running now and a few numbers, however long the run. */
export interface Progress {
  readonly planned: number
  readonly done: number
  readonly counts: Readonly<Record<Verdict, number>>
  readonly running: ReadonlyMap<string, { readonly trial: TrialHeader; readonly sinceMs: number }>
  readonly elapsedMs: number
  /** null until something really ran. */
  readonly remainingMs: number | null
}

export interface ProgressTracker {
  started(trial: TrialHeader): void
  ended(record: TrialRecord): void
  now(): Progress
}

export function trackProgress(run: RunHeader, nowMs: () => number): ProgressTracker {
  const beganMs = nowMs()
  const running = new Map<string, { readonly trial: TrialHeader; readonly sinceMs: number }>()
  const counts = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  let done = 0
  let reallyRan = 0
  let spentMs = 0
  return {
    started: (trial) => void running.set(trial.id, { trial, sinceMs: nowMs() }),
    ended(record) {
      running.delete(record.id)
      counts[record.verdict] += 1
      done += 1
      if (record.cachedFrom !== null) return
      // Trials from the cache take no time and would make the estimate too bright.
      reallyRan += 1
      spentMs += record.durationMs
    },
    now() {
      const left = Math.max(0, run.trials - done)
      const lanes = Math.max(1, Math.min(run.concurrency, left))
      const remainingMs = reallyRan === 0 ? null : ((spentMs / reallyRan) * left) / lanes
      return { planned: run.trials, done, counts, running, elapsedMs: nowMs() - beganMs, remainingMs }
    },
  }
}
