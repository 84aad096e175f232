import { addCost } from '../core/add-cost.ts'
import { counted } from '../core/counted.ts'
import { systemClock } from '../io/clock.ts'
import { systemTimer, type Timer } from '../io/timer.ts'
import type {
  AttemptFailure,
  AttemptResult,
  EarlierAttempts,
  NotRun,
  PlannedTrial,
  TrialKind,
  TrialsOptions,
  TrialsReport,
} from './contract.ts'
import { type NextAttempt, nextAttempt, type TrialHistory } from './next-attempt.ts'
import { dollars, openShares, type Share, type Shares } from './shares.ts'
import { type WorkSlot, workThrough } from './work-through.ts'

/**
 * Runs every trial in plan order and stores each as soon as it is finished. After the first error no further attempt starts.
 * The error is thrown when running attempts have ended and are stored, so no paid result is lost.
 */
export async function runTrials<Spec, Result>(
  trials: readonly PlannedTrial<Spec>[],
  kind: TrialKind<Spec, Result>,
  options: TrialsOptions,
): Promise<TrialsReport<Spec>> {
  const groups = Map.groupBy(trials, ({ group }) => group)
  const { budget, expectedCostUsd = null, signal, deadline, timer = systemTimer } = options
  const shares = openShares(budget, expectedCostUsd)
  const failing = new AbortController()
  const stopped = AbortSignal.any([signal, failing.signal])
  const errors: unknown[] = []
  const fail = (error: unknown): void => {
    errors.push(error)
    failing.abort()
  }
  const left = new Map(
    trials.map((trial) => [trial, { costUsd: 0 as number | null, why: null as string | null }]),
  )
  const keeping = new Set<Promise<void>>()
  const engine: Engine<Spec, Result> = {
    kind,
    options,
    shares,
    timer,
    stopped,
    pauses: createProviderPauses(timer, stopped),
    mayStart: (atMs = timer.now()) => !stopped.aborted && (deadline === undefined || atMs < deadline),
    notMade: (trial, facts) => {
      const known = left.get(trial)
      if (known !== undefined) left.set(trial, { ...known, ...facts })
    },
    async keep(trial, result, earlier) {
      const kept = (async () => kind.keep(trial, result, earlier))().then(() => void left.delete(trial))
      const watched = kept.catch(fail).finally(() => keeping.delete(watched))
      keeping.add(watched)
      if (trial.group !== undefined) await kept
    },
  }
  /** Trials of the group still to come, by group; only groups with a trial that was started. */
  const open = new Map<string, number>()
  const busy = new Set<string>()
  const work = async (trial: PlannedTrial<Spec>, slot: WorkSlot): Promise<void> => {
    const { group } = trial
    if (group === undefined) return makeTrial(trial, slot, engine).catch(fail)
    busy.add(group)
    const following = (open.get(group) ?? groups.get(group)?.length ?? 1) - 1
    open.set(group, following)
    await makeTrial(trial, slot, engine).catch(fail)
    if (following === 0) await endGroup(group)
    busy.delete(group)
  }
  const endGroup = async (group: string): Promise<void> => {
    open.delete(group)
    await kind.endGroup?.(group)
  }
  await workThrough(trials, {
    ...options,
    failed: failing.signal,
    mayStart: () => engine.mayStart(),
    isBlocked: ({ group }) => group !== undefined && busy.has(group),
    work,
  }).catch(fail)
  for (const group of open.keys()) await endGroup(group).catch(fail)
  await Promise.all(keeping)
  if (errors.length > 0) throw errors[0]
  const isLate = deadline !== undefined && timer.now() >= deadline
  const stop = signal.aborted
    ? 'the run was interrupted'
    : isLate
      ? 'the time limit was reached'
      : (shares.refusal() ?? 'the run ended before it')
  return { notRun: [...left].map(([trial, { costUsd, why }]) => ({ trial, costUsd, why: why ?? stop })) }
}

/** One sentence for each reason why trials were not run. */
export function notRunReasons(notRun: readonly Pick<NotRun<unknown>, 'why'>[]): string[] {
  const byReason = [...Map.groupBy(notRun, ({ why }) => why)]
  if (byReason.length === 1) return byReason.map(([why]) => why)
  return byReason.map(([why, { length }]) => `${counted(length, 'trial')}: ${why}`)
}

interface Engine<Spec, Result> {
  readonly kind: TrialKind<Spec, Result>
  readonly options: TrialsOptions
  readonly shares: Shares
  readonly pauses: ReturnType<typeof createProviderPauses>
  readonly timer: Timer
  /** Aborted by an interruption and by the first error. */
  readonly stopped: AbortSignal
  /** Whether an attempt may start now, or at another time. */
  mayStart(atMs?: number): boolean
  /** What the attempts at a trial have cost so far, and why it is not made, until it is kept. */
  notMade(trial: PlannedTrial<Spec>, facts: { readonly costUsd?: number | null; readonly why?: string }): void
  keep(trial: PlannedTrial<Spec>, result: Result, earlier: EarlierAttempts): Promise<void>
}

/** One trial: from what is known, else attempt after attempt until one is kept or no other is allowed. */
async function makeTrial<Spec, Result>(
  trial: PlannedTrial<Spec>,
  slot: WorkSlot,
  engine: Engine<Spec, Result>,
): Promise<void> {
  const { kind, options, timer, stopped } = engine
  const known = (await kind.known?.(trial)) ?? null
  if (known !== null) {
    kind.started?.(trial)
    return engine.keep(trial, known, { count: 0, costUsd: 0 })
  }
  let history: TrialHistory = { tries: 0, retries: 0, pausedMs: 0 }
  let earlierUsd: number | null = 0
  for (;;) {
    const share = await unlessAborted(stopped, () => admit(trial, slot, engine))
    if (share === null) return
    const { ended, next } = await attemptOnce(trial, slot, { history, share }, engine)
    if (ended === null) return
    const costUsd = addCost(earlierUsd, ended.costUsd)
    engine.notMade(trial, { costUsd })
    if (ended.kind === 'over_budget') {
      engine.notMade(trial, { why: cutMessage(share, ended.costUsd) })
      return kind.putAside?.(trial, ended.result, 'over-budget')
    }
    if (ended.kind === 'not_run') {
      if (ended.why !== undefined) engine.notMade(trial, { why: ended.why })
      return
    }
    if (ended.kind === 'made' || next === null)
      return engine.keep(trial, ended.result, { count: history.tries, costUsd: earlierUsd })
    options.note({ level: 'warning', message: retryMessage(trial, ended.failure, next.waitMs) })
    kind.putAside?.(trial, ended.result, 'infra')
    earlierUsd = costUsd
    history = after(history, next)
    const { isLimited, waitMs } = next
    if (!isLimited && waitMs > 0) await unlessAborted(stopped, () => timer.sleep(waitMs, stopped))
  }
}

/**
 * Waits until the provider has no pause, money is reserved and the rate limit allows a start. While one of them is waited for,
 * another may begin, so all are checked again. null: no attempt may start.
 */
async function admit<Spec, Result>(
  trial: PlannedTrial<Spec>,
  slot: WorkSlot,
  { options, shares, pauses, stopped, mayStart, notMade }: Engine<Spec, Result>,
): Promise<Share | null> {
  const { provider, maxCostUsd: maxUsd = null, like = '' } = trial
  const { earlierCostUsd: earlierUsd = null, othersCostUsd: othersUsd = null } = trial
  for (;;) {
    const pausedUntilMs = pauses.endMs(provider)
    if (!mayStart(pausedUntilMs ?? undefined)) return null
    if (pausedUntilMs !== null) await slot.rest(() => pauses.passed(provider))
    if (!mayStart()) return null
    const share = await shares.reserve({ like, earlierUsd, othersUsd, maxUsd })
    if (share === null) {
      const why = shares.refusal()
      if (why !== null) notMade(trial, { why })
      return null
    }
    try {
      await options.limiter?.take(stopped)
    } catch (error) {
      share.giveBack()
      throw error
    }
    if (mayStart() && pauses.endMs(provider) === null) return share
    share.giveBack()
  }
}

/**
 * Makes one attempt and pays for it. `ended` is null when it was interrupted, `next` when no attempt follows. A pause begins before the share is settled, so trials that wait for money wait for it too.
 */
async function attemptOnce<Spec, Result>(
  trial: PlannedTrial<Spec>,
  slot: WorkSlot,
  { history, share }: { readonly history: TrialHistory; readonly share: Share },
  { kind, options, pauses }: Engine<Spec, Result>,
) {
  const { tries } = history
  let ended: AttemptResult<Result> | null = null
  try {
    if (tries === 0) kind.started?.(trial)
    const order = {
      trial,
      tries,
      maxCostUsd: share.usd,
      stages: (tries === 0 ? kind.stages?.(trial) : null) ?? {},
    }
    ended = await unlessAborted(options.signal, () =>
      kind.attempt(order, { slot, settle: share.settle, raise: share.raise }),
    )
    if (ended?.kind !== 'failed') return { ended, next: null }
    const next = nextAttempt(ended.failure, history, options.retry, systemClock.now().getTime())
    if (next?.isLimited === true) pauses.pause(trial.provider, next.waitMs)
    return { ended, next }
  } finally {
    // An attempt that failed or was interrupted may have cost less than a whole one.
    share.settle(ended?.costUsd ?? null, ended?.kind === 'made' || ended?.kind === 'over_budget')
  }
}

function cutMessage({ usd }: Share, costUsd: number | null): string {
  const cost = costUsd === null ? '' : ` after ${dollars(costUsd)}`
  return `the budget stopped it${cost}: ${dollars(usd ?? 0)} was left for it`
}

function after({ tries, retries, pausedMs }: TrialHistory, { kind, waitMs }: NextAttempt): TrialHistory {
  return {
    tries: tries + 1,
    retries: retries + (kind === 'retry' ? 1 : 0),
    pausedMs: pausedMs + (kind === 'pause' ? waitMs : 0),
  }
}

/** null when it failed after an abort. Only for waits and attempts: an error of storing a result must not get lost. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

function retryMessage({ title }: PlannedTrial<unknown>, { message }: AttemptFailure, waitMs: number): string {
  return `${title}: ${message}; trying again${waitMs > 0 ? ` in ${Math.ceil(waitMs / 1000)} s` : ''}`
}

/** A limit of a provider that one trial meets applies to all trials of that provider: none starts until it has passed. */
function createProviderPauses(timer: Timer, signal: AbortSignal) {
  const ends = new Map<string, number>()
  const waits = new Map<string, Promise<void>>()
  /** When the pause ends, on the timer's clock; null when there is none. */
  const endMs = (provider: string): number | null => {
    const end = ends.get(provider)
    return end === undefined || end <= timer.now() ? null : end
  }
  const wait = async (provider: string): Promise<void> => {
    try {
      for (let end = endMs(provider); end !== null; end = endMs(provider))
        await timer.sleep(end - timer.now(), signal)
    } finally {
      waits.delete(provider)
    }
  }
  return {
    pause: (provider: string, waitMs: number): void =>
      void ends.set(provider, Math.max(ends.get(provider) ?? 0, timer.now() + waitMs)),
    endMs,
    /** Ends when the provider has no pause. Waits of one provider end in the order of the calls. Rejects when the signal is aborted. */
    passed(provider: string): Promise<void> {
      const under = waits.get(provider) ?? wait(provider)
      if (endMs(provider) !== null) waits.set(provider, under)
      return under
    },
  }
}
