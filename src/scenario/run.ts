import { diagnose } from '../analysis/diagnosis.ts'
import type { CaseFacts } from '../core/case-facts.ts'
import { createFacts } from '../core/case-facts.ts'
import { GantryError } from '../core/error.ts'
import { findRegressions } from '../core/regression.ts'
import { createSummary, type SummaryFold } from '../core/summarize.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import { gitInfo } from '../io/git.ts'
import type { FinishedRun, Reporter, RunHeader } from '../report/contract.ts'
import { eventsForPeople } from '../report/events-for-people.ts'
import { applyRetention } from '../store/apply-retention.ts'
import type { LiveRun, ManifestChange, Store, StoredRun } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'
import { resumeRun } from '../store/resume-run.ts'
import { createLater } from './later.ts'
import type { PlannedTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import { asideCostUsd, putAside } from './put-aside.ts'
import { createTraces } from './traces.ts'
import { createTrialRunner } from './trial-runner.ts'
import { workThrough } from './work-through.ts'

export interface RunPowers {
  readonly store: Store
  readonly reporter: Reporter
  readonly signal: AbortSignal
  /** The command line, for the manifest. */
  readonly argv: readonly string[]
  /** Facts of the run this one is compared with; its id goes into the manifest. */
  readonly baseline?: { readonly runId: string; readonly facts: readonly CaseFacts[] }
  /** Id of a run to go on with instead of starting a new one. */
  readonly resume?: string
}

export interface RunResult {
  readonly runId: string
  readonly runDir: string
  readonly summary: RunSummary
  readonly interrupted: boolean
}

/** Makes every planned trial that is not yet made, and reports. Whatever is finished survives any end of this process. */
export async function runPrepared(prepared: PreparedRun, powers: RunPowers): Promise<RunResult> {
  const run = await openLiveRun(prepared, powers)
  try {
    return await carryOut(prepared, powers, run)
  } catch (error) {
    run.release()
    throw withResumeHint(error, run)
  }
}

async function carryOut(prepared: PreparedRun, powers: RunPowers, run: LiveRun): Promise<RunResult> {
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
  const runner = createTrialRunner(prepared, {
    run,
    store: powers.store,
    signal,
    resumed: powers.resume !== undefined,
    putAside: (record, why) => putAside(run, record, why, powers.store.clock.now()),
    note: (note) => reporter.note?.(note),
  })
  const notRun = await workThrough(open, {
    concurrency: request.concurrency,
    signal,
    ...(request.maxTimeMs !== undefined && { deadline: started + request.maxTimeMs }),
    work: async (planned) => {
      reporter.trialStarted?.(planned)
      const made = await runner(planned)
      if (made === null) return 'not_run'
      later.add(() => {
        made.store()
        run.finishTrial(made.record)
        take(made.record)
      })
      return 'done'
    },
  })
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
  readonly started: number
}): Promise<RunResult> {
  const { powers, run, header, notRun } = end
  const interrupted = powers.signal.aborted
  const summary = end.summary.finish({
    durationMs: Math.round(performance.now() - end.started),
    notRun: notRun.length,
    asideCostUsd: await asideCostUsd(run),
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

async function openLiveRun(prepared: PreparedRun, powers: RunPowers): Promise<LiveRun> {
  const { store, resume, argv, baseline } = powers
  if (resume !== undefined) {
    const id = findRun(store, resume)
    // Before the run is touched: one that is refused stays as it was.
    refuseChanges(prepared, openRun(store, id))
    return resumeRun(store, id)
  }
  const { project, request, agents, targets, redaction } = prepared
  const git = await gitInfo(project.root)
  const run = createRun(store, {
    kind: 'scenario',
    title: titleOf(prepared),
    argv: argv.map(redaction.text),
    cwd: request.cwd,
    ...(git !== null && { dirty: git.dirty, ...(git.commit !== null && { commit_sha: git.commit }) }),
    agents: Object.fromEntries([...agents].map(([name, { probe }]) => [name, probe.version ?? 'unknown'])),
    target: [...targets.values()].find((identity) => identity.version !== null)?.version ?? null,
    ...(baseline !== undefined && { refers_to: [baseline.runId] }),
    onWarning: (message) => powers.reporter.note?.({ level: 'warning', message }),
  })
  for (const entry of prepared.cases.values()) run.freeze(entry.shownFile, redaction.text(entry.source.text))
  if (project.source !== null) run.freeze('gantry.yaml', redaction.text(project.source.text))
  run.writePlan(planDocument(prepared))
  return run
}

/** `plan.json`: the request, and the trials with the keys that prove on resumption that nothing changed meanwhile. */
function planDocument({ request, trials, keys }: PreparedRun) {
  return { request, trials: trials.map((trial) => ({ ...trial, key: keys.get(trial.id) ?? null })) }
}

function refuseChanges(prepared: PreparedRun, run: StoredRun): void {
  const frozen = new Map(
    (run.plan()?.trials ?? []).map((trial) => [trial.id, 'key' in trial ? trial.key : null]),
  )
  const changed = prepared.trials.find((trial) => frozen.get(trial.id) !== prepared.keys.get(trial.id))
  if (changed === undefined && frozen.size === prepared.trials.length) return
  throw new GantryError(
    'USAGE',
    `${run.id} cannot go on: ${changed === undefined ? 'its plan' : `'${changed.case}' with ${changed.agent}`} has changed since it began`,
    {
      hint: 'A run must not mix results of two versions. Start a new one; unchanged trials come from the cache.',
    },
  )
}

function titleOf({ cases, agents }: PreparedRun): string {
  const [only] = cases.keys()
  const what = cases.size === 1 && only !== undefined ? only : `${cases.size} scenarios`
  return `${what} with ${[...agents.keys()].join(', ')}`
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
