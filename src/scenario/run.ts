import { openProjectStore } from '../config/open-project-store.ts'
import { createFacts } from '../core/case-facts.ts'
import { createSummary } from '../core/summarize.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import { lazyBoundary } from '../models/boundary/lazy-boundary.ts'
import { backoffMs } from '../models/retry.ts'
import type { Reporter, RunHeader } from '../report/contract.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import { createDeferredWork } from '../trials/deferred-work.ts'
import { asideCostUsd, putAside } from '../trials/put-aside.ts'
import { withResumeHint } from '../trials/resume-hint.ts'
import { runTrials } from '../trials/run-trials.ts'
import { frozenRequest, loadBaseline } from './earlier-runs.ts'
import { createTraces, finishRun, type RunResult } from './finish-run.ts'
import { openLiveRun, type RunContext, titleOf } from './open-live-run.ts'
import type { ScenarioTrial } from './plan.ts'
import { type PreparedRun, prepareRun } from './prepare-run.ts'
import { type RunRequestInput, runRequestSchema } from './request.ts'
import { plannedTrials, scenarioTrials, storeTrial } from './scenario-trials.ts'

/** Makes every planned trial that is not yet made, and reports. Whatever is finished survives any end of this process. */
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

export interface ScenarioRunOptions {
  /** Default: the one of the environment. */
  readonly store?: Store
  readonly reporter?: Reporter
  readonly signal?: AbortSignal
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Goes on with this run; the request is then the one it was started with. */
  readonly resume?: string
}

/** `gantry test` as a function. */
export async function runScenarios(
  request: RunRequestInput,
  options: ScenarioRunOptions = {},
): Promise<RunResult> {
  const { env = process.env, reporter = {}, signal = new AbortController().signal, resume } = options
  const { cwd, configFile } = request
  const store =
    options.store ?? openProjectStore({ env, cwd, ...(configFile !== undefined && { configFile }) })
  const asked = resume === undefined ? runRequestSchema.parse(request) : frozenRequest(store, resume)
  const prepared = await prepareRun(asked, env, signal)
  return runPrepared(prepared, {
    store,
    reporter,
    signal,
    argv: [],
    ...(asked.baseline !== undefined && { baseline: await loadBaseline(store, asked.baseline) }),
    ...(resume !== undefined && { resume }),
  })
}

async function carryOut(
  prepared: PreparedRun,
  context: RunContext,
  run: LiveRun,
  boundary: () => Promise<Boundary>,
): Promise<RunResult> {
  const { request, trials } = prepared
  const { reporter, signal } = context
  const started = performance.now()
  const header: RunHeader = {
    runId: run.id,
    runDir: run.dir,
    title: titleOf(prepared),
    trials: trials.length,
    concurrency: request.concurrency,
    startedAt: run.manifest().timestamp_start,
  }
  reporter.runStarted?.(header)
  const { maxInfraRate, threshold, seed } = request
  const summary = createSummary({ maxInfraRate, threshold, seed })
  const facts = createFacts()
  const traces = createTraces()
  const take = (record: TrialRecord): void => {
    summary.add(record)
    facts.add(record)
    traces.add(record)
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
  /** What agents cost whose trials have no record yet. */
  const unjudgedUsd = new Map<string, number>()
  const makeAll = async (wanted: readonly ScenarioTrial[], resumed: boolean): Promise<ScenarioTrial[]> => {
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
    const { notRun } = await runTrials(plannedTrials(prepared, wanted), kind, {
      concurrency: request.concurrency,
      signal,
      budget: prepared.budget,
      retry: {
        mode: 'every_failure',
        maxRetries: request.infraRetries,
        maxPauseMs: request.maxPauseMs,
        longestWaitMs: 0,
        backoffMs,
      },
      ...(request.maxTimeMs !== undefined && { deadline: started + request.maxTimeMs }),
      ...(batchedJudge !== null && { onAllParked: batchedJudge.flush }),
      note,
    })
    return notRun.map(({ trial }) => trial.spec)
  }
  let notRun = await makeAll(open, context.resume !== undefined)
  // What was reserved for the judge is far more than it costs: now there may be money for those that were refused.
  if (notRun.length > 0 && batchedJudge?.isFlushed() === true) notRun = await makeAll(notRun, true)
  await deferred.done()
  return finishRun({
    context,
    redaction: prepared.redaction,
    run,
    header,
    summary,
    facts: facts.finish(),
    traces: traces.finish(),
    notRun,
    unjudgedUsd: [...unjudgedUsd.values()].reduce((sum, usd) => sum + usd, 0),
    started,
  })
}

/**
 * What an earlier process finished of the run. A trial that was `infra` is made again: what broke may be fixed by now.
 * All the money that was spent counts against the budget.
 */
async function takeUp(
  { budget }: PreparedRun,
  { store }: RunContext,
  run: LiveRun,
  take: (record: TrialRecord) => void,
): Promise<Set<string>> {
  const charge = (costUsd: number | null): void => {
    const grant = budget.reserve(0)
    if (grant.kind === 'granted') grant.settle(costUsd)
  }
  charge(await asideCostUsd(run))
  const finished = new Set<string>()
  for await (const record of run.trials()) {
    charge(record.cachedFrom === null ? record.costUsd : 0)
    if (record.verdict === 'infra') {
      putAside(run, record, 'infra', store.clock.now())
      run.discardTrial(record.id)
      continue
    }
    take(record)
    finished.add(record.id)
  }
  return finished
}
