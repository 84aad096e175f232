import { z } from 'zod'
import { interactionMetrics } from '../../analysis/metrics.ts'
import { settled } from '../../core/case-tally.ts'
import { createSummary } from '../../core/create-summary.ts'
import type { RunSummary } from '../../core/summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { version } from '../../core/version.ts'
import { monotonicMs } from '../../io/clock.ts'
import { modifiedAtMs } from '../../io/directory.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import { builtInPrices } from '../../models/prices.ts'
import type { FinishedRun, Reporter, RunHeader, TrialHeader } from '../../report/contract.ts'
import { eventsForPeople, runHeader } from '../../report/finished-run.ts'
import type { Analysis } from '../analyze/contract.ts'
import { componentId, componentsById } from '../component-list.ts'
import type { TrialEvaluation } from '../evaluate/contract.ts'
import { knownComponents } from '../evaluate/detection/known-components.ts'
import { createEvaluationFold, type EvaluationSummary } from '../evaluate/metrics/create-evaluation-fold.ts'
import { evaluateStored } from '../evaluate/stored/evaluate-stored.ts'
import type { Execution, PluginTrial } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { evaluationView } from '../report/evaluation-view.ts'
import { ended } from '../state/evaluation-state.ts'
import { askJudges } from './ask-judges.ts'
import {
  type EvaluationFiles,
  type EvaluationHead,
  readAnalysis,
  readCrowd,
  readScenarios,
  writeEvaluationDocument,
} from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { otherCosts, spentSoFar } from './spent-so-far.ts'
import { storedTrials } from './stored-trials.ts'

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
  const header = runHeader(run, {
    title: analysis.plugin_name,
    trials: trials.made.filter(isUnderTest).length + trials.notRun.length,
    concurrency: config.max_concurrent,
  })
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

const metadataSchema = z.object({
  agent: z.string(),
  agent_version: z.string().nullable(),
  duration_ms: z.number(),
  not_run_why: z.array(z.string()).default([]),
})

/** The metadata of stage 3. A run made by another tool may have none. */
function executionFacts(files: EvaluationFiles) {
  const read = metadataSchema.safeParse(readJsonIfExists(files.executionMetadata))
  const { agent, agent_version, duration_ms, not_run_why } = read.success
    ? read.data
    : { agent: 'claude-code', agent_version: null, duration_ms: 0, not_run_why: [] }
  return {
    agent,
    agentVersion: agent_version,
    durationMs: Math.round(duration_ms),
    notRunWhy: not_run_why,
    /** When a trial started; null when unknown. */
    startedAt: ({ trial, duration_ms: took }: Execution): string | null => {
      const madeMs = modifiedAtMs(files.execution(trial.id))
      return madeMs === null ? null : new Date(madeMs - took).toISOString()
    },
  }
}

interface RecordFacts extends Pick<TrialRecord, 'agent' | 'model' | 'dir' | 'startedAt'> {
  /** Where the component is described, relative to the plugin. */
  readonly file: string
  readonly line: number
  /** Whether to show the arm: only when there are several. */
  readonly showArm: boolean
}

/**
 * A trial in the format that all faces share: for reporters, lists, the index and the log of results. `execution` is null when
 * it cannot be read.
 */
export function trialRecord(
  evaluation: TrialEvaluation,
  execution: Execution | null,
  scenario: PluginScenario,
  facts: RecordFacts,
): TrialRecord {
  const { trial } = evaluation
  const costs = [evaluation.cost_usd, evaluation.evaluation_cost_usd]
  return {
    id: trial.id,
    case: scenario.id,
    file: scenario.case?.dir ?? facts.file,
    agent: facts.showArm ? `${facts.agent}, ${trial.arm}` : facts.agent,
    model: facts.model,
    attempt: trial.rep,
    prompt: scenario.user_prompt,
    verdict: evaluation.verdict,
    ...(evaluation.untried === true && { untried: true }),
    reason: evaluation.reason,
    gates: evaluation.gates.map((gate) =>
      scenario.case === undefined ? { line: facts.line, ...gate } : gate,
    ),
    // Plugin trials do not measure commands of a tool.
    metrics: interactionMetrics([], { completed: execution?.termination_type === 'clean', source: 'none' }),
    judge: null,
    evaluators: [],
    score: evaluation.grader_score ?? judgedScore(evaluation),
    tier: null,
    costUsd: evaluation.cost_usd === null ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    tokens: evaluation.tokens,
    ...(execution !== null && execution.model_usage.length > 0 && { usage: execution.model_usage }),
    durationMs: evaluation.duration_ms,
    ending: execution?.ending ?? 'not_started',
    agentExitCode: null,
    ...(execution?.failure !== undefined && { failure: execution.failure.reason }),
    dir: facts.dir,
    tags: [scenario.component_type, scenario.scenario_type, ...(scenario.tags ?? [])],
    infraRetries: execution?.infra_retries ?? 0,
    cachedFrom: null,
    cacheKey: null,
    startedAt: facts.startedAt,
    warnings: execution?.warnings ?? [],
  }
}

/** null without a judge's score. */
function judgedScore({ judgement }: TrialEvaluation): number | null {
  return judgement === null || judgement.quality_score === null ? null : judgement.quality_score / 10
}
