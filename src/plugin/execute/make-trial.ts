import { setTimeout as wait } from 'node:timers/promises'
import { addCost } from '../../core/add-cost.ts'
import { systemClock } from '../../io/clock.ts'
import { agentCostUsd } from '../../model-link/agent-cost.ts'
import { hasFaults } from '../../model-link/run-linked-agent.ts'
import { type Attempt, unasked } from './attempt.ts'
import type { GroupProcess } from './group-process.ts'
import type { GroupWork } from './group-work.ts'
import { keepTrial } from './keep-trial.ts'
import { makeAttempt } from './make-attempt.ts'
import type { ExecuteRequest } from './request.ts'
import { retryWaitMs } from './retry-policy.ts'
import type { GroupedTrial } from './trial-groups.ts'

const defaultMaxPauseMs = 15 * 60_000

/** One trial, tried again while the machinery breaks and waiting may mend it, and kept. */
export async function makeTrial(
  grouped: GroupedTrial,
  process: GroupProcess,
  work: GroupWork,
): Promise<void> {
  const { request, tally, pause } = work
  const { trial, scenario } = grouped
  const { signal, onStep } = request
  let earlier = { count: 0, costUsd: 0 as number | null }
  let pausedMs = 0
  const begin = (): void => {
    if (earlier.count > 0) return
    onStep({ kind: 'scenario_start', trial: trial.id, scenario: scenario.id, arm: trial.arm, rep: trial.rep })
  }
  for (;;) {
    const tried = await tryOnce(grouped, process, work, begin).catch(whenInterrupted(signal))
    if (tried === null) return tally.notRun(trial.id, earlier.costUsd)
    const { attempt, costUsd } = tried
    if (attempt.outcome.ending === 'over_budget') {
      // What an agent does without money left is not to be judged: whoever goes on with the run makes it anew.
      tally.notRun(trial.id, addCost(earlier.costUsd, costUsd))
      return
    }
    if (signal.aborted || attempt.outcome.ending === 'cancelled')
      return tally.notRun(trial.id, addCost(earlier.costUsd, costUsd))
    const waitMs = nextTryMs(attempt, { ...earlier, pausedMs }, request)
    if (waitMs === null) return keepTrial(grouped, attempt, earlier, work)
    const { reason = 'unavailable', message = '' } = attempt.outcome.failure ?? {}
    onStep({
      kind: 'note',
      level: 'warning',
      message: `${scenario.id}: the agent could not work (${reason}): ${message}; trying again in ${Math.ceil(waitMs / 1_000)} s`,
    })
    earlier = { count: earlier.count + 1, costUsd: addCost(earlier.costUsd, costUsd) }
    if (reason === 'rate_limit' || reason === 'overloaded') {
      pause.until(waitMs)
      pausedMs += waitMs
    } else await wait(waitMs, undefined, { signal }).catch(whenInterrupted(signal))
  }
}

interface Tried {
  readonly attempt: Attempt
  /** null = unmetered. */
  readonly costUsd: number | null
}

/** null when the budget does not allow it, or it was interrupted. */
async function tryOnce(
  grouped: GroupedTrial,
  process: GroupProcess,
  work: GroupWork,
  begin: () => void,
): Promise<Tried | null> {
  const { request, spending, limiter, pause, tally } = work
  await pause.passed(request.signal)
  await limiter.take(request.signal)
  const held = await spending.hold()
  if (held === null) {
    tally.outOfBudget()
    return null
  }
  if (request.signal.aborted) {
    held.settle(0)
    return null
  }
  begin()
  let costUsd: number | null = null
  try {
    const attempt = await attemptIn(grouped, process, work, held.maxCostUsd)
    const facts = { model: request.config.execution.model, prices: request.prices }
    costUsd = agentCostUsd(facts, attempt.outcome, attempt.usage)
    await process.tidy()
    return { attempt, costUsd }
  } finally {
    held.settle(costUsd)
  }
}

async function attemptIn(
  grouped: GroupedTrial,
  process: GroupProcess,
  { request }: GroupWork,
  maxCostUsd: number | undefined,
): Promise<Attempt> {
  const left = request.budget.remainingUsd()
  const ready = await process.ready(grouped.scenario, {
    maxCostUsd: maxCostUsd === undefined || left === null ? undefined : left + maxCostUsd,
  })
  if (ready.kind === 'broken') return unasked(ready, systemClock.now())
  return makeAttempt(grouped, {
    request,
    live: ready.live,
    openRecorder: () => request.openEventLog(grouped.trial.id),
    maxCostUsd,
  })
}

/** null: there is no other try. */
function nextTryMs(
  { outcome, retryAfterMs, isHopeless = false }: Attempt,
  { count, pausedMs }: { readonly count: number; readonly pausedMs: number },
  request: ExecuteRequest,
): number | null {
  const { failure, invalid } = outcome
  if (failure === null || invalid !== undefined || isHopeless) return null
  // Injected faults would fail again in the same way.
  if (request.modelLink !== null && hasFaults(request.modelLink)) return null
  return retryWaitMs(
    { failure, retryAfterMs, earlierTries: count, pausedMs },
    {
      tuning: request.config.tuning,
      maxPauseMs: request.maxPauseMs ?? defaultMaxPauseMs,
      nowMs: systemClock.now().getTime(),
      random: Math.random,
    },
  )
}

/** What waited when the run was interrupted has nothing to tell. */
function whenInterrupted(signal: AbortSignal): (error: unknown) => null {
  return (error) => {
    if (signal.aborted) return null
    throw error
  }
}
