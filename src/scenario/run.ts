import { diagnose } from '../analysis/diagnosis.ts'
import { type CaseFacts, createFacts } from '../core/case-facts.ts'
import { GantryError } from '../core/error.ts'
import { findRegressions } from '../core/regression.ts'
import { createSummary, type SummaryFold } from '../core/summarize.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import { lazyBoundary } from '../models/boundary/lazy-boundary.ts'
import type { FinishedRun, Reporter, RunHeader } from '../report/contract.ts'
import { eventsForPeople } from '../report/events-for-people.ts'
import { applyRetention } from '../store/apply-retention.ts'
import type { LiveRun, ManifestChange } from '../store/contract.ts'
import { createLater } from './later.ts'
import { openLiveRun, type RunPowers, titleOf } from './open-live-run.ts'
import type { PlannedTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import { asideCostUsd, putAside } from './put-aside.ts'
import { createTraces } from './traces.ts'
import { createTrialRunner } from './trial-runner.ts'
import { workThrough } from './work-through.ts'

export interface RunResult {
  readonly runId: string
  readonly runDir: string
  readonly summary: RunSummary
  readonly interrupted: boolean
}

/** Makes every planned trial that is not yet made, and reports. Whatever is finished survives any end of this process. */
export async function runPrepared(prepared: PreparedRun, powers: RunPowers): Promise<RunResult> {
  const run = await openLiveRun(prepared, powers)
  await using boundary = lazyBoundary()
  try {
    return await carryOut(prepared, powers, run, boundary.get)
  } catch (error) {
    run.release()
    throw withResumeHint(error, run)
  }
}

async function carryOut(
  prepared: PreparedRun,
  powers: RunPowers,
  run: LiveRun,
  boundary: () => Promise<Boundary>,
): Promise<RunResult> {
  const { request, trials } = prepared
  const { reporter, signal } = powers
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
  const finished = powers.resume === undefined ? new Set<string>() : await takeUp(prepared, powers, run, take)
  const open = trials.filter((trial) => !finished.has(trial.id))
  const later = createLater()
  const note: NonNullable<Reporter['note']> = (line) => reporter.note?.(line)
  // Loaded for those who need it.
  await using batchedJudge =
    prepared.judgeBatch === null
      ? null
      : await (await import('./batched-judge.ts')).openBatchedJudge(prepared, {
          runDir: run.dir,
          signal,
          note,
        })
  /** Bills of agents whose trials have no record yet. */
  const unjudgedUsd = new Map<string, number>()
  const makeAll = (wanted: readonly PlannedTrial[], resumed: boolean): Promise<PlannedTrial[]> => {
    const runner = createTrialRunner(prepared, {
      run,
      store: powers.store,
      signal,
      boundary,
      resumed,
      batchedJudge,
      onAgentPaid: ({ id }, agentUsd) => unjudgedUsd.set(id, agentUsd ?? 0),
      putAside: (record, why) => {
        unjudgedUsd.delete(record.id)
        putAside(run, record, why, powers.store.clock.now())
      },
      note,
    })
    return workThrough(wanted, {
      concurrency: request.concurrency,
      signal,
      ...(request.maxTimeMs !== undefined && { deadline: started + request.maxTimeMs }),
      work: async (planned, slot) => {
        reporter.trialStarted?.(planned)
        const made = await runner(planned, slot)
        if (made === null) return 'not_run'
        unjudgedUsd.delete(planned.id)
        later.add(() => {
          made.store()
          run.finishTrial(made.record)
          take(made.record)
        })
        return 'done'
      },
      ...(batchedJudge !== null && { onAllParked: batchedJudge.flush }),
    })
  }
  let notRun = await makeAll(open, powers.resume !== undefined)
  // What was set aside for the judge is far more than it costs: now there may be money for those that were refused.
  if (notRun.length > 0 && batchedJudge?.isFlushed() === true) notRun = await makeAll(notRun, true)
  await later.done()
  return finish({
    powers,
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
 * What an earlier process finished of the run. A trial that was `infra` is made again: whatever broke may be mended by now.
 * All the money that was spent counts against the budget.
 */
async function takeUp(
  { budget }: PreparedRun,
  { store }: RunPowers,
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

async function finish(end: {
  readonly powers: RunPowers
  readonly redaction: PreparedRun['redaction']
  readonly run: LiveRun
  readonly header: RunHeader
  readonly summary: SummaryFold
  readonly facts: readonly CaseFacts[]
  readonly traces: ManifestChange
  readonly notRun: readonly PlannedTrial[]
  readonly unjudgedUsd: number
  readonly started: number
}): Promise<RunResult> {
  const { powers, run, header, notRun } = end
  const interrupted = powers.signal.aborted
  const summary = end.summary.finish({
    durationMs: Math.round(performance.now() - end.started),
    notRun: notRun.length,
    asideCostUsd: (await asideCostUsd(run)) + end.unjudgedUsd,
    regressions: powers.baseline === undefined ? [] : findRegressions(powers.baseline.facts, end.facts),
  })
  await run.end({
    status: interrupted ? 'interrupted' : summary.verdict,
    summary,
    change: end.traces,
  })
  const finished: FinishedRun = {
    ...header,
    endedAt: powers.store.clock.now().toISOString(),
    summary,
    version,
    records: () => run.trials(),
    events: (trial) => eventsForPeople(trial, end.redaction.forPeople),
    diagnose: (trial) => diagnose(trial.metrics),
    notRun,
    interrupted,
    ...(notRun.length > 0 && { nextSteps: [`Go on with: gantry test --resume ${run.id}`] }),
  }
  await powers.reporter.runEnded?.(finished)
  if (!interrupted) applyRetention(powers.store, { protect: [run.id] })
  return { runId: run.id, runDir: run.dir, summary, interrupted }
}

function withResumeHint(error: unknown, run: LiveRun): unknown {
  if (!(error instanceof GantryError) || error.code === 'USAGE') return error
  const go = `What is finished is kept in ${run.dir}; go on with: gantry test --resume ${run.id}`
  return new GantryError(error.code, error.message, {
    hint: error.hint === undefined ? go : `${error.hint} ${go}`,
    cause: error,
    ...(error.at !== undefined && { at: error.at }),
  })
}
