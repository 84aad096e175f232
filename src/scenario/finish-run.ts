import { diagnose } from '../analysis/diagnose.ts'
import { type CaseFacts, createFacts } from '../core/case-facts.ts'
import { changedBetween, compareFacts, compareMany, notRunDoubt, thisRun } from '../core/compare-facts.ts'
import type { Comparison } from '../core/comparison.ts'
import { counted } from '../core/counted.ts'
import { createSummary } from '../core/create-summary.ts'
import { compareWith, findRegressions } from '../core/regression.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import { monotonicMs } from '../io/clock.ts'
import type { FinishedRun, RunHeader } from '../report/contract.ts'
import { diffForPeople, eventsForPeople, storeComparisons, withComparisons } from '../report/finished-run.ts'
import { cleanAfterRun } from '../store/apply-retention.ts'
import type { ExecutedCommand, LiveRun, ManifestChange } from '../store/contract.ts'
import type { TrialsReport } from '../trials/contract.ts'
import { asideCostUsd } from '../trials/put-aside.ts'
import { notRunReasons } from '../trials/run-trials.ts'
import type { ArmRounds } from './arm-rounds.ts'
import type { Case } from './case.ts'
import { createPairs, type JudgedPairs } from './judged-pairs.ts'
import { judgeTrust } from './label-trials.ts'
import type { RunContext } from './open-live-run.ts'
import { comparedAgents, type ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { RunRequest } from './request.ts'

export type RunResult = Awaited<ReturnType<typeof finishRun>>

/** Ends the run, reports it, and removes runs that are no longer kept. */
export async function finishRun(end: {
  readonly context: RunContext
  readonly prepared: Pick<PreparedRun, 'request' | 'redaction'> & {
    readonly judge: { readonly name: string } | null
    readonly project: { readonly root: string }
  }
  readonly tally: RunTally
  /** null: no judge compared answers. */
  readonly preferences: JudgedPairs | null
  readonly run: LiveRun
  readonly header: RunHeader
  readonly notRun: TrialsReport<ScenarioTrial>['notRun']
  readonly unjudgedUsd: number
  /** The command that continues the run, if it is not --resume. A run that reached its budget needs a larger one. */
  readonly next?: string
  /** On the clock of `monotonicMs`. */
  readonly started: number
}) {
  const { context, run, header, tally } = end
  const [facts, traces] = [tally.facts.finish(), tally.traces.finish()]
  const notRun = end.notRun.map(({ trial }) => trial.spec)
  const notRunWhy = notRunReasons(end.notRun)
  const isOutOfMoney = notRunWhy.some((text) => text.includes('budget'))
  const resume = `gantry test --resume ${run.id}${isOutOfMoney ? ' --max-cost-usd USD' : ''}`
  const interrupted = context.signal.aborted
  const { judge, project } = end.prepared
  const summary = tally.summary.finish({
    ...(judge !== null && { judge: await judgeTrust(context.store, judge.name, project.root) }),
    durationMs: Math.round(monotonicMs() - end.started),
    notRun: notRun.length,
    asideCostUsd: (await asideCostUsd(run)) + end.unjudgedUsd + (end.preferences?.costUsd ?? 0),
    ...(context.baseline !== undefined && {
      regressions: findRegressions(context.baseline.facts, facts),
      baseline: compareWith(context.baseline.runId, context.baseline.facts, facts),
    }),
  })
  for (const { case: name, agent } of summary.baseline?.changed ?? [])
    context.reporter.note?.({
      level: 'warning',
      message: `${name} (${agent}) is not compared with the baseline: ${changedBetween}`,
    })
  const comparisons = interrupted ? [] : await comparisonsOf(end)
  if (comparisons.length > 0) storeComparisons(run, comparisons)
  const decided = tally.rounds !== null && { decided: !interrupted && notRun.length === 0 }
  await run.end({
    status: interrupted ? 'interrupted' : summary.verdict,
    summary,
    change: { ...traces, details: { ...traces.details, not_run: notRunWhy, ...decided } },
  })
  const isComparison = end.prepared.request.arms.length > 0 || context.against !== undefined
  const { forPeople } = end.prepared.redaction
  const finished: FinishedRun = {
    ...header,
    endedAt: context.store.clock.now().toISOString(),
    summary,
    version,
    records: () => run.trials(),
    events: (trial) => eventsForPeople(trial, forPeople),
    workspaceDiff: (trial) => diffForPeople(trial, forPeople),
    diagnose,
    notRun,
    notRunWhy,
    interrupted,
    ...withComparisons(comparisons),
    ...(context.failOn === 'regression' && {
      failedRegressions:
        isComparison && comparisons.length > 0
          ? comparisons.reduce((count, each) => count + each.regressions.length, 0)
          : summary.regressions.length,
    }),
    ...(notRun.length > 0 && {
      nextSteps: [`Continue with: ${isOutOfMoney && !interrupted ? resume : (end.next ?? resume)}`],
    }),
  }
  if (!interrupted)
    for (const message of cleanAfterRun(context.store, [run.id]))
      context.reporter.note?.({ level: 'info', message })
  await context.reporter.runEnded?.(finished)
  /** `isComparison`: arms, or a side that was named. What the comparisons say is then more than single failures. */
  return { runId: run.id, runDir: run.dir, summary, interrupted, comparisons, isComparison }
}

/** With what the user named, and of every arm with the first one; of agents only if a judge compared them. */
export async function comparisonsOf(
  end: Pick<Parameters<typeof finishRun>[0], 'tally' | 'run' | 'preferences'> & {
    readonly notRun: readonly unknown[]
    readonly context: Pick<RunContext, 'against'>
    readonly prepared: Pick<PreparedRun, 'request'>
  },
): Promise<readonly Comparison[]> {
  const { run, context, preferences } = end
  const { rounds, compared } = end.tally
  const facts = end.tally.facts.finish()
  const { margin, seed, only, arms } = end.prepared.request
  const isCompared = (agent: string): boolean => arms.length > 0 || preferences?.preferenceOf(agent) != null
  const isRegraded = run.manifest().details.regraded_from !== undefined
  const sideOf = (name: string, of: readonly CaseFacts[]) => ({
    name,
    runId: run.id,
    facts: of.filter(({ agent }) => agent === name),
    isChosen: true,
    isRegraded,
  })
  // Trials that failed before say nothing about the arms.
  const [first = '', ...later] = only === undefined ? compared : []
  const others = later.filter(isCompared)
  const ofArms = compareMany(
    await Promise.all(
      others.map(async (arm) => {
        const sequential = rounds?.pairsOf(arm)
        const of = sequential === undefined ? facts : await factsUpTo(sequential.rounds, run)
        const options = { margin, seed, ...(sequential !== undefined && { sequential }) }
        return { before: sideOf(first, of), after: sideOf(arm, of), options }
      }),
    ),
  ).map((comparison, index) => ({
    ...comparison,
    preference: preferences?.preferenceOf(others[index] ?? '') ?? null,
  }))
  const { against } = context
  const all =
    against === undefined
      ? ofArms
      : [compareFacts(against, { name: thisRun, runId: run.id, facts }, { margin, seed }), ...ofArms]
  if (end.notRun.length === 0) return all
  const doubt = `${counted(end.notRun.length, 'planned trial')} ${notRunDoubt}`
  return all.map((comparison) => ({ ...comparison, doubts: [doubt, ...comparison.doubts] }))
}

/** Of the rounds that decided: the first arm goes on as long as any other does. */
async function factsUpTo(attempt: number, run: LiveRun): Promise<readonly CaseFacts[]> {
  const facts = createFacts()
  for await (const record of run.trials()) if (record.attempt <= attempt) facts.add(record)
  return facts.finish()
}

export type RunTally = ReturnType<typeof createTally>

/** What the records of a run are folded into. `rounds`: null when the arms are compared once, or there are none. */
export function createTally(
  {
    request,
    trials,
  }: { readonly request: RunRequest; readonly trials: Parameters<typeof comparedAgents>[0]['trials'] },
  cases: ReadonlyMap<string, Case> = new Map(),
  rounds: ArmRounds | null = null,
) {
  /** The others are compared with the first. */
  const compared = comparedAgents({ request, trials })
  const [summary, facts, traces] = [createSummary(request), createFacts(), createTraces()]
  const pairs = createPairs(cases, compared)
  const add = (record: TrialRecord): void => {
    for (const part of [summary, facts, traces, pairs, rounds]) part?.add(record)
  }
  return { compared, summary, facts, traces, pairs, rounds, add }
}

/** Maximum in the manifest, which is for people; all trials have their own records. */
const maxCommands = 500

/** Manifest entries of the trials: the agents that ran, and the runs whose results were reused. */
function createTraces(): { add(record: TrialRecord): void; finish(): ManifestChange } {
  const commands: ExecutedCommand[] = []
  const reused = new Set<string>()
  let leftOut = 0
  return {
    add: (record) => {
      if (record.cachedFrom !== null) {
        reused.add(record.cachedFrom)
        return
      }
      if (commands.length >= maxCommands) {
        leftOut += 1
        return
      }
      commands.push({
        name: record.id,
        command: `agent ${record.agent} (${record.model}), ${record.ending}`,
        exit_code: record.agentExitCode,
        duration_ms: record.durationMs,
      })
    },
    finish: () => ({
      commands_executed: commands,
      refers_to: [...reused],
      ...(leftOut > 0 && { details: { commands_left_out: leftOut } }),
    }),
  }
}
