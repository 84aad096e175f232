import { settled } from '../../core/case-tally.ts'
import { createSummary } from '../../core/create-summary.ts'
import type { RunSummary } from '../../core/summary.ts'
import { version } from '../../core/version.ts'
import { monotonicMs } from '../../io/clock.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import { builtInPrices } from '../../models/prices.ts'
import type { FinishedRun, Reporter, RunHeader, TrialHeader } from '../../report/contract.ts'
import { eventsForPeople } from '../../report/finished-run.ts'
import type { Analysis } from '../analyze/contract.ts'
import { componentId, componentsById } from '../component-list.ts'
import type { TrialEvaluation } from '../evaluate/contract.ts'
import { knownComponents } from '../evaluate/detection/known-components.ts'
import { createEvaluationFold } from '../evaluate/metrics/create-evaluation-fold.ts'
import type { EvaluationSummary } from '../evaluate/metrics/evaluation-summary.ts'
import { evaluateStored } from '../evaluate/stored/evaluate-stored.ts'
import type { Execution, PluginTrial } from '../execute/contract.ts'
import { evaluationView } from '../report/evaluation-view.ts'
import { ended } from '../state/evaluation-state.ts'
import { askJudges } from './ask-judges.ts'
import {
  type EvaluationHead,
  readAnalysis,
  readCrowd,
  readScenarios,
  writeEvaluationDocument,
} from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { otherCosts, spentSoFar } from './spent-so-far.ts'
import { storedTrials } from './stored-trials.ts'
import { executionFacts, trialRecord } from './trial-record.ts'

/**
 * Stage 4: evaluates the stored trials. Runs no agent. Judges are called only where the traces are ambiguous, and never twice
 * for the same question.
 */
export async function runEvaluation(
  work: EvaluationWork,
  reporter: Reporter,
  /** The pass rate that every scenario must reach. Default 1. */
  { threshold }: { readonly threshold?: number } = {},
): Promise<RunSummary> {
  const { request, context, files, run } = work
  const { config } = request
  const analysis = readAnalysis(files)
  const known = knownComponents(analysis, readCrowd(files))
  const trials = storedTrials(work)
  const startedMs = monotonicMs()
  const header: RunHeader = {
    runId: run.id,
    runDir: run.dir,
    title: analysis.plugin_name,
    trials: trials.made.filter(isUnderTest).length + trials.notRun.length,
    concurrency: config.max_concurrent,
    startedAt: run.manifest().timestamp_start,
  }
  context.onStep({ kind: 'stage_start', stage: 'evaluation', total: 0 })
  reporter.runStarted?.(header)
  const facts = executionFacts(files)
  const prices = { ...builtInPrices, ...context.project.config.models }
  const fold = createEvaluationFold({ plugin: analysis.plugin_name, prices })
  const summary = createSummary({ ...(threshold !== undefined && { threshold }) })
  const failed = new Set<string>()
  let recordedUsd = 0
  const components = componentsById(analysis.components)
  const take = (evaluation: TrialEvaluation, execution: Execution | null): void => {
    writeJsonAtomic(files.trialEvaluation(evaluation.trial.id), evaluation)
    const { trial } = evaluation
    const scenario = trials.scenarioOf(trial)
    // The arm without the plugin is only a baseline and has no verdict.
    if (!isUnderTest({ trial }) || scenario === undefined) return
    const about = components.get(componentId(scenario.component_type, scenario.component_ref))?.component
    const record = trialRecord(evaluation, execution, scenario, {
      file: about?.path ?? '',
      line: about?.line ?? 1,
      agent: facts.agent,
      model: config.execution.model,
      dir: run.trialDir(trial.id),
      showArm: request.target.arms.length > 1,
      startedAt: (execution === null ? null : facts.startedAt(execution)) ?? header.startedAt,
    })
    run.finishTrial(record)
    if (record.verdict !== 'pass') failed.add(scenario.id)
    summary.add(record)
    recordedUsd += record.costUsd ?? 0
    reporter.trialEnded?.(record)
  }
  await using judges = await askJudges(work, { analysis, known, trials: trials.made })
  await evaluateStored({
    trials: trials.made,
    known,
    config,
    fold,
    keep: take,
    judge: judges.judge,
    grade: judges.grade,
    concurrency: judges.concurrency,
    signal: context.signal,
  })
  const { lost_cost_usd, lost_usage } = work.state()
  const whole = fold.finish({
    ...otherCosts(files),
    lost_cost_usd,
    lost_usage,
    judges_cost_usd: spentSoFar(files).evaluation,
  })
  const result = summary.finish({
    durationMs: Math.round(monotonicMs() - startedMs) + facts.durationMs,
    notRun: trials.notRun.length,
    asideCostUsd: asideUsd(whole, recordedUsd),
  })
  const head = headOf(work, analysis, whole, facts, trials.notRun)
  writeEvaluationDocument(
    files,
    head,
    trials.made.map(({ trial }) => trial),
    (trial) => trials.scenarioOf(trial)?.user_prompt,
  )
  work.advance((state, now) => ended(state, [...failed].sort(), now))
  await run.end({ status: context.signal.aborted ? 'interrupted' : result.verdict, summary: result })
  context.onStep({
    kind: 'stage_complete',
    stage: 'evaluation',
    duration_ms: monotonicMs() - startedMs,
    count: trials.made.length,
  })
  await reporter.runEnded?.(finished(work, header, result, whole, analysis, trials.notRun))
  return result
}

function isUnderTest({ trial }: { readonly trial: PluginTrial }): boolean {
  return trial.arm !== 'without'
}

/** What is in no record of a trial: generation, the arm without the plugin, and what was lost. */
export function asideUsd({ costs }: Pick<EvaluationSummary, 'costs'>, recordedUsd: number): number {
  return Math.max(0, settled(costs.total_cost_usd - recordedUsd))
}

function headOf(
  { run, request, context, state }: EvaluationWork,
  analysis: Analysis,
  summary: EvaluationSummary,
  facts: ReturnType<typeof executionFacts>,
  notRun: readonly TrialHeader[],
): EvaluationHead {
  return {
    schema_version: 1,
    run_id: run.id,
    run_dir: run.dir,
    plugin_name: analysis.plugin_name,
    plugin_path: analysis.plugin_path,
    content_hash: state().content_hash,
    agent: facts.agent,
    agent_version: facts.agentVersion,
    model: request.config.execution.model,
    timestamp: context.store.clock.now().toISOString(),
    summary,
    findings: analysis.findings,
    listing: analysis.listing,
    plugin_load_result: analysis.plugin_load_result,
    not_run: notRun.map(({ id }) => id),
  }
}

function finished(
  { run, context, redaction, files }: EvaluationWork,
  header: RunHeader,
  summary: RunSummary,
  whole: EvaluationSummary,
  analysis: Analysis,
  notRun: readonly TrialHeader[],
): FinishedRun {
  return {
    ...header,
    endedAt: context.store.clock.now().toISOString(),
    summary,
    version,
    records: () => run.trials(),
    events: (trial) => eventsForPeople(trial, redaction.forPeople),
    notRun,
    notRunWhy: executionFacts(files).notRunWhy,
    interrupted: context.signal.aborted,
    ...evaluationView(summary, {
      runId: run.id,
      summary: whole,
      analysis,
      scenarios: readScenarios(files),
      notRunWhy: executionFacts(files).notRunWhy,
    }),
  }
}
