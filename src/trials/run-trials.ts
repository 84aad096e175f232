import { setTimeout as sleep } from 'node:timers/promises'
import { addCost } from '../core/add-cost.ts'
import { monotonicMs, systemClock } from '../io/clock.ts'
import type {
  AttemptFailure,
  AttemptResult,
  EarlierAttempts,
  PlannedTrial,
  TrialKind,
  TrialSlot,
  TrialsOptions,
  TrialsReport,
} from './contract.ts'
import { isLimit, retryWaitMs } from './retry-wait.ts'
import { openShares, type Shares } from './shares.ts'
import { workThrough } from './work-through.ts'

/**
 * Makes every trial, in plan order, and keeps each as soon as it is finished. The first error starts no further trial and
 * is thrown when those under way have ended, so that nothing that was paid for is lost.
 */
export async function runTrials<Spec, Result>(
  trials: readonly PlannedTrial<Spec>[],
  kind: TrialKind<Spec, Result>,
  options: TrialsOptions,
): Promise<TrialsReport<Spec>> {
  const groups = [...Map.groupBy(trials, ({ id, group }) => group ?? id).values()]
  const { budget, expectedCostUsd = null, concurrency, signal, deadline } = options
  const shares = openShares(budget, {
    concurrency: Math.min(concurrency, Math.max(1, groups.length)),
    expectedCostUsd,
  })
  const engine: Engine<Spec, Result> = { kind, options, shares, pauses: createPauses() }
  const left = new Map<PlannedTrial<Spec>, number | null>(trials.map((trial) => [trial, 0]))
  let hasFailed = false
  const mayStart = (): boolean =>
    !hasFailed && !signal.aborted && (deadline === undefined || performance.now() < deadline)

  await workThrough(groups, {
    ...options,
    work: async (group, slot) => {
      try {
        for (const trial of group) {
          if (!mayStart()) break
          const made = await makeTrial(trial, slot, engine)
          if (made.kind === 'kept') left.delete(trial)
          else left.set(trial, made.costUsd)
        }
      } catch (error) {
        hasFailed = true
        throw error
      } finally {
        const shared = group[0]?.group
        if (shared !== undefined) await kind.endGroup?.(shared)
      }
    },
  })
  return {
    notRun: [...left].map(([trial, costUsd]) => ({ trial, costUsd })),
    refusal: shares.refusal(),
  }
}

interface Engine<Spec, Result> {
  readonly kind: TrialKind<Spec, Result>
  readonly options: TrialsOptions
  readonly shares: Shares
  readonly pauses: Pauses
}

type MadeTrial = { readonly kind: 'kept' } | { readonly kind: 'not_run'; readonly costUsd: number | null }

/** One trial: from what is known, else attempt after attempt until one is kept or no other is allowed. */
async function makeTrial<Spec, Result>(
  trial: PlannedTrial<Spec>,
  slot: TrialSlot,
  engine: Engine<Spec, Result>,
): Promise<MadeTrial> {
  const { kind, options, pauses } = engine
  const known = (await kind.known?.(trial)) ?? null
  if (known !== null) {
    kind.started?.(trial)
    await kind.keep(trial, known, { count: 0, costUsd: 0 })
    return { kind: 'kept' }
  }
  let earlier: EarlierAttempts = { count: 0, costUsd: 0 }
  let pausedMs = 0
  try {
    for (;;) {
      const ended = await attemptOnce(trial, slot, earlier, engine)
      if (ended === null) return { kind: 'not_run', costUsd: earlier.costUsd }
      const costUsd = addCost(earlier.costUsd, ended.costUsd)
      if (ended.kind === 'over_budget') kind.putAside?.(trial, ended.result, 'over-budget')
      if (ended.kind === 'over_budget' || ended.kind === 'not_run') return { kind: 'not_run', costUsd }
      const waitMs =
        ended.kind === 'failed'
          ? retryWaitMs(
              { failure: ended.failure, earlierTries: earlier.count, pausedMs },
              { ...options.retry, nowMs: systemClock.now().getTime() },
            )
          : null
      if (ended.kind === 'made' || waitMs === null) {
        await kind.keep(trial, ended.result, earlier)
        return { kind: 'kept' }
      }
      options.note({ level: 'warning', message: retryMessage(trial, ended.failure, waitMs) })
      kind.putAside?.(trial, ended.result, 'infra')
      earlier = { count: earlier.count + 1, costUsd }
      if (isLimit(ended.failure)) {
        pausedMs += waitMs
        pauses.pause(trial.provider, waitMs)
      } else if (waitMs > 0) await sleep(waitMs, undefined, { signal: options.signal })
    }
  } catch (error) {
    if (options.signal.aborted) return { kind: 'not_run', costUsd: earlier.costUsd }
    throw error
  }
}

/** Reserves before the attempt starts, settles when it ends. null when the budget does not allow it, or it was interrupted. */
async function attemptOnce<Spec, Result>(
  trial: PlannedTrial<Spec>,
  slot: TrialSlot,
  { count }: EarlierAttempts,
  { kind, options, shares, pauses }: Engine<Spec, Result>,
): Promise<AttemptResult<Result> | null> {
  const { signal, limiter } = options
  await pauses.passed(trial.provider, signal)
  const share = await shares.reserve(trial.maxCostUsd ?? null)
  if (share === null) return null
  let costUsd: number | null = null
  let hasStarted = false
  try {
    await limiter?.take(signal)
    if (signal.aborted) return null
    hasStarted = true
    if (count === 0) kind.started?.(trial)
    const ended = await kind.attempt(
      { trial, tries: count, maxCostUsd: share.usd },
      { slot, settle: share.settle },
    )
    costUsd = ended.costUsd
    return ended
  } finally {
    share.settle(hasStarted ? costUsd : 0)
  }
}

function retryMessage({ title }: PlannedTrial<unknown>, { message }: AttemptFailure, waitMs: number): string {
  return `${title}: ${message}; trying again${waitMs > 0 ? ` in ${Math.ceil(waitMs / 1000)} s` : ''}`
}

/** A limit of a provider that one trial meets applies to all trials of that provider: none starts until it has passed. */
interface Pauses {
  pause(provider: string, waitMs: number): void
  /** Rejects when the signal is aborted. */
  passed(provider: string, signal: AbortSignal): Promise<void>
}

function createPauses(): Pauses {
  const untilMs = new Map<string, number>()
  return {
    pause(provider, waitMs) {
      untilMs.set(provider, Math.max(untilMs.get(provider) ?? 0, monotonicMs() + waitMs))
    },
    async passed(provider, signal) {
      const leftMs = (): number => (untilMs.get(provider) ?? 0) - monotonicMs()
      for (let ms = leftMs(); ms > 0; ms = leftMs()) await sleep(ms, undefined, { signal })
      signal.throwIfAborted()
    },
  }
}
