import { join } from 'node:path'
import type { TrialRecord } from '../core/trial.ts'
import { monotonicMs } from '../io/clock.ts'
import { begunUsage } from '../model-link/agent-cost.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import { lazyBoundary } from '../models/boundary/lazy-boundary.ts'
import { backoffMs } from '../models/retry.ts'
import type { Reporter } from '../report/contract.ts'
import { runHeader } from '../report/finished-run.ts'
import type { LiveRun } from '../store/contract.ts'
import { readCheckpoints } from '../trials/checkpoints.ts'
import type { RetryPolicy, TrialsReport } from '../trials/contract.ts'
import { createDeferredWork } from '../trials/deferred-work.ts'
import { asideCostUsd, putAside } from '../trials/put-aside.ts'
import { withResumeHint } from '../trials/resume-hint.ts'
import { runTrials } from '../trials/run-trials.ts'
import { armRounds } from './arm-rounds.ts'
import { isPairwise } from './case.ts'
import { createTally, finishRun, type RunResult } from './finish-run.ts'
import { type createPairs, type JudgedPairs, paidForPairs } from './judged-pairs.ts'
import { openLiveRun, type RunContext, titleOf } from './open-live-run.ts'
import type { ScenarioTrial } from './plan.ts'
import { type PreparedRun, runWarnings } from './prepare-run.ts'
import { isFree, plannedTrials, scenarioTrials, storeTrial } from './scenario-trials.ts'

/** Runs every planned trial that is not finished yet, and reports. Finished work survives any end of this process. */
export async function runPrepared(prepared: PreparedRun, context: RunContext): Promise<RunResult> {
  const run = await openLiveRun(prepared, context)
  await using boundary = lazyBoundary()
  try {
    return await carryOut(prepared, context, run, boundary.get)
  } catch (error) {
    run.release()
    throw withResumeHint(error, run, 'gantry test --resume')
  }
}

async function carryOut(
  prepared: PreparedRun,
  context: RunContext,
  run: LiveRun,
  boundary: () => Promise<Boundary>,
): Promise<RunResult> {
  const { request, trials } = prepared
  const { reporter, signal } = context
  const started = monotonicMs()
  const header = runHeader(run, {
    title: titleOf(prepared),
    trials: trials.length,
    mayEndEarly: request.untilDecided,
    concurrency: request.concurrency,
  })
  reporter.runStarted?.(header)
  for (const message of runWarnings(prepared)) reporter.note?.({ level: 'warning', message })
  const rounds = armRounds(request)
  const tally = createTally(prepared, prepared.cases, rounds)
  const take = (record: TrialRecord): void => {
    tally.add(record)
    reporter.trialEnded?.(record)
  }
  const finished =
    context.resume === undefined ? new Set<string>() : await takeUp(prepared, context, run, take)
  const open = trials.filter((trial) => !finished.has(trial.id))
  const deferred = createDeferredWork()
  const note: NonNullable<Reporter['note']> = (line) => reporter.note?.(line)
  // Loaded only for a run that uses it.
  await using batchedJudge =
    prepared.judgeBatch === null
      ? null
      : await (await import('./batched-judge.ts')).openBatchedJudge(prepared, {
          runDir: run.dir,
          signal,
          note,
        })
  /** Cost of agents whose trials have no record yet. */
  const unjudgedUsd = new Map<string, number>()
  const earlier =
    prepared.budget.capUsd === null
      ? undefined
      : await (await import('./estimate.ts')).earlierCosts(open, context.store)
  const makeAll = async (
    wanted: readonly ScenarioTrial[],
    resumed: boolean,
  ): Promise<TrialsReport<ScenarioTrial>['notRun']> => {
    const kind = scenarioTrials(prepared, {
      run,
      store: context.store,
      signal,
      boundary,
      resumed,
      batchedJudge,
      started: (trial) => reporter.trialStarted?.(trial),
      unjudged: (id, usd) => (usd === null ? unjudgedUsd.delete(id) : unjudgedUsd.set(id, usd)),
      keep: (record) =>
        deferred.add(() => {
          storeTrial(prepared, record)
          run.finishTrial(record)
          take(record)
        }),
    })
    const { notRun } = await runTrials(plannedTrials(prepared, wanted, earlier), kind, {
      concurrency: request.concurrency,
      signal,
      budget: prepared.budget,
      retry: retryPolicy(request),
      ...(request.maxTimeMs !== undefined && { deadline: started + request.maxTimeMs }),
      ...(batchedJudge !== null && { onAllParked: batchedJudge.flush }),
      note,
    })
    return notRun
  }
  const makeRounds = async (): ReturnType<typeof makeAll> => {
    for (let attempt = 1; attempt <= request.repeat; attempt += 1) {
      const wanted = open.filter((trial) => trial.attempt === attempt && rounds?.isOpen(trial) === true)
      const left = wanted.length === 0 ? [] : await makeAll(wanted, context.resume !== undefined)
      if (left.length > 0 || signal.aborted) return left
      rounds?.look(attempt)
    }
    return []
  }
  let notRun = await (rounds === null ? makeAll(open, context.resume !== undefined) : makeRounds())
  // The money reserved for the judge is far more than it cost, so refused trials may fit into the budget now.
  if (notRun.length > 0 && batchedJudge?.isFlushed() === true)
    notRun = await makeAll(
      notRun.map(({ trial }) => trial.spec),
      true,
    )
  const scores = [...prepared.cases.values()].some((entry) => entry.rubric !== null && !isPairwise(entry))
  return finishRun({
    context,
    tally,
    preferences: await judgePairs(prepared, context, run, tally.pairs),
    prepared: { ...prepared, judge: scores ? prepared.judge : null },
    run,
    header,
    notRun,
    unjudgedUsd: [...unjudgedUsd.values()].reduce((sum, usd) => sum + usd, 0),
    started,
  })
}

/** Both sides of a pair must have ended. The calls are paid from the budget of the run. */
export async function judgePairs(
  { judge, cases, redaction, request }: PreparedRun,
  { store, signal, reporter }: RunContext,
  run: LiveRun,
  pairs: ReturnType<typeof createPairs>,
): Promise<JudgedPairs | null> {
  if (judge === null || signal.aborted || request.only !== undefined) return null
  const note = (message: string): void => reporter.note?.({ level: 'info', message })
  const { concurrency, seed } = request
  return pairs.judge({ run, store, cases, redaction, judge, concurrency, seed, signal, note })
}

export function retryPolicy({ infraRetries, maxPauseMs }: PreparedRun['request']): RetryPolicy {
  return {
    // A wrong key stays wrong.
    mayHelp: ({ reason }) => reason !== 'auth',
    maxRetries: infraRetries,
    maxPauseMs,
    longestWaitMs: 0,
    retryWaitMs: () => 0,
    limitWaitMs: backoffMs,
  }
}

/**
 * The trials that an earlier process finished. An `infra` trial runs again, because the cause may be fixed. All money spent
 * counts against the budget.
 */
async function takeUp(
  prepared: PreparedRun,
  { store }: RunContext,
  run: LiveRun,
  take: (record: TrialRecord) => void,
): Promise<Set<string>> {
  const charge = (costUsd: number | null): void => {
    const grant = prepared.budget.reserve(0)
    if (grant.kind === 'granted') grant.settle(costUsd)
  }
  charge(await asideCostUsd(run))
  const finished = new Set<string>()
  for await (const record of run.trials()) {
    charge(record.cachedFrom === null ? record.costUsd : 0)
    charge(paidForPairs(run, record.id, prepared.cases.get(record.case)))
    if (record.verdict === 'infra') {
      putAside(run, record, 'infra', store.clock.now())
      run.discardTrial(record.id)
      continue
    }
    take(record)
    finished.add(record.id)
  }
  for (const { id, agent } of prepared.trials) {
    if (finished.has(id) || isFree(prepared, agent) || 'agent' in readCheckpoints(run, id)) continue
    const used = await begunUsage(join(run.trialDir(id), 'events.jsonl'), prepared)
    const costUsd = used.reduce((sum, row) => sum + (row.costUsd ?? 0), 0)
    if (costUsd === 0) continue
    charge(costUsd)
    putAside(run, { id, costUsd }, 'interrupted', store.clock.now())
  }
  return finished
}
