import { GantryError } from '../../core/error.ts'
import { readJsonIfExists, removeTree, writeJsonAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import type { LiveRun } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { resumeRun } from '../../store/resume-run.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { apiModelName } from '../config/model-names.ts'
import type { PluginOverrides } from '../config/overrides.ts'
import { note, type PluginStage, stages } from '../contract.ts'
import type { ModelUse } from '../evaluate/contract.ts'
import { lostUse } from '../evaluate/metrics/cost-tally.ts'
import { type EvaluationState, lost, nextStage, rewoundTo } from '../state/evaluation-state.ts'
import {
  type EvaluationFiles,
  evaluationFiles,
  readAnalysis,
  readExecution,
  readScenarios,
  trialNames,
} from './evaluation-files.ts'
import type { EvaluationContext, EvaluationRequest } from './evaluation-work.ts'
import { findEvaluation } from './find-evaluation.ts'
import { type OpenEvaluation, work } from './open-evaluation.ts'
import { readStateOf } from './read-evaluation-state.ts'
import { analysed } from './run-analysis.ts'
import { otherCosts, type Spent, spentSoFar } from './spent-so-far.ts'
import { readStoredRequest } from './stored-request.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'
import { unpackOlder } from './unpack-older.ts'

export interface ResumeEvaluationOptions {
  /** A run id, the beginning of one, or `latest`. */
  readonly run: string
  /** The first stage to repeat. Default: the stage after the last completed one. */
  readonly fromStage?: PluginStage
  readonly until?: PluginStage
  /** The name of the plugin that the run must belong to. */
  readonly pluginName?: string
  /** Changes from the command line to the stored configuration. */
  readonly change?: (config: PluginConfig) => PluginConfig
}

/**
 * Resumes a run with its stored request. Throws GantryError and changes nothing when its state belongs to another run or
 * plugin, cannot be read, or when the plugin has changed since.
 */
export async function resumeEvaluation(
  options: ResumeEvaluationOptions,
  context: EvaluationContext,
): Promise<OpenEvaluation> {
  const { store, onStep } = context
  const id = await findEvaluation(options.run, context)
  const files = evaluationFiles(openRun(store, id).dir)
  // Checked before locking, because locking changes the manifest, and again when no other process can change it.
  readStateOf(files, options.pluginName)
  const run = resumeRun(store, id, { onWarning: (message) => note(onStep, 'warning', message) })
  try {
    const migrated = readStateOf(files, options.pluginName)
    const isOlder = migrated.notes.length > 0
    const asked = readStoredRequest({ files, state: migrated.state, isOlder, env: context.env })
    const request: EvaluationRequest = {
      ...asked,
      config: options.change?.(asked.config) ?? asked.config,
      until: options.until ?? 'evaluation',
    }
    const state = isOlder
      ? await unpackOlder(files, migrated, readJsonIfExists(files.state), request, context)
      : migrated.state
    for (const message of migrated.notes) note(onStep, 'info', message)
    const next = await goOn(files, run, state, request, options, context)
    const { generation, execution, evaluation } = spentSoFar(files)
    return work(request, context, run, next, next.lost_cost_usd + generation + execution + evaluation)
  } catch (error) {
    run.release()
    throw error
  }
}

/** Writes the state with which the run continues, and removes the results of stages that run again. */
async function goOn(
  files: EvaluationFiles,
  run: LiveRun,
  state: EvaluationState,
  request: EvaluationRequest,
  { fromStage }: ResumeEvaluationOptions,
  { store, cwd }: EvaluationContext,
): Promise<EvaluationState> {
  const now = store.clock.now()
  let next = state
  if (fromStage !== undefined) {
    requireDataFor(fromStage, files)
    const rewound = rewoundTo(state, fromStage, request.until, now)
    next = {
      ...lost(rewound, lostBy(fromStage, spentSoFar(files)), lostUsage(fromStage, files)),
      undoing: fromStage,
    }
  } else if (state.undoing === null) next = resumePoint(files, state, request, now)
  await refuseChangedPlugin(files, next, cwd)
  writeJsonAtomic(files.state, next)
  if (next.undoing === null) return next
  undoStages(files, run, next.undoing, next)
  const undone: EvaluationState = { ...next, undoing: null }
  writeJsonAtomic(files.state, undone)
  return undone
}

/**
 * Where a run continues by default. Trials that never ran, or failed for infrastructure reasons, run first. A complete run is
 * evaluated again.
 */
function resumePoint(
  files: EvaluationFiles,
  state: EvaluationState,
  request: EvaluationRequest,
  now: Date,
): EvaluationState {
  const { until } = request
  if (state.stage === 'pending' || state.stage === 'analysis' || state.stage === 'generation')
    return { ...state, until }
  const isWhole = plannedTrials(readScenarios(files), request).every(({ id }) => isTrialDone(files, id))
  return rewoundTo(state, isWhole ? 'evaluation' : 'execution', until, now)
}

/** Checks the data of a stage before anything is removed. Throws GantryError that names the stage to run first. */
function requireDataFor(stage: PluginStage, files: EvaluationFiles): void {
  if (stage === 'analysis') return
  readAnalysis(files)
  if (stage === 'generation') return
  readScenarios(files)
  if (stage === 'execution' || trialNames(files).some((id) => isFile(files.execution(id)))) return
  throw new GantryError('NOT_FOUND', `${files.dir} has no trials to evaluate`, {
    hint: `Run them first: gantry plugin resume ${files.runId} --from-stage execution`,
  })
}

/**
 * Removes the results of a stage and of those after it. When only the evaluation is repeated, answers of judges are kept, so
 * that the same question is not paid for twice. May be interrupted at any point and repeated.
 */
function undoStages(
  files: EvaluationFiles,
  run: Pick<LiveRun, 'discardTrial'>,
  from: PluginStage,
  { fast_from: fastFrom }: Pick<EvaluationState, 'fast_from'>,
): void {
  if (isBefore(from, 'evaluation')) {
    removeTree(files.evaluation)
    for (const trialId of trialNames(files)) run.discardTrial(trialId)
    for (const path of [files.transcriptsDir, files.executionMetadata, files.hookLab]) removeTree(path)
  }
  if (isBefore(from, 'execution')) {
    for (const path of [files.generatedDir, files.generationMetadata]) removeTree(path)
    // In fast mode they are part of the request.
    if (fastFrom === null) removeTree(files.scenarios)
  }
}

function lostBy(from: PluginStage, { generation, execution, evaluation }: Spent): number {
  return (
    (isBefore(from, 'execution') ? generation : 0) +
    (isBefore(from, 'evaluation') ? execution + evaluation : 0)
  )
}

/** Of it, what is known by model. */
function lostUsage(from: PluginStage, files: EvaluationFiles): readonly ModelUse[] {
  if (!isBefore(from, 'evaluation')) return []
  const executions = trialNames(files).flatMap((id) => readExecution(files, id) ?? [])
  const generation = isBefore(from, 'execution') ? (otherCosts(files).generation_usage ?? []) : []
  return [...generation, ...executions.flatMap(lostUse)]
}

function isBefore(a: PluginStage, b: PluginStage): boolean {
  return stages.indexOf(a) < stages.indexOf(b)
}

/** A report must not mix trials of two versions of a plugin. Evaluating existing trials is allowed with any version. */
async function refuseChangedPlugin({ runId }: EvaluationFiles, state: EvaluationState, cwd: string) {
  const stage = nextStage(state)
  if ((stage !== 'generation' && stage !== 'execution') || state.content_hash === '') return
  const { content_hash } = await analysed({ path: state.plugin_path, cwd, crowd: [] })
  if (content_hash === state.content_hash) return
  throw new GantryError(
    'USAGE',
    `the plugin in ${state.plugin_path} has changed since run ${runId} analysed it`,
    {
      hint: `Start a new run, repeat this one with gantry plugin resume ${runId} --from-stage analysis, or evaluate its existing trials with gantry plugin evaluate ${runId}.`,
    },
  )
}

/** What a resumed run may change: the judging, and the cost limit. */
export function withChanges(
  config: PluginConfig,
  flags: Pick<PluginOverrides, 'batch' | 'maxCostUsd' | 'judgeModel' | 'samples'>,
): PluginConfig {
  const { execution, evaluation } = config
  return {
    ...config,
    ...(flags.batch === false && { force_synchronous: true }),
    execution: { ...execution, ...(flags.maxCostUsd !== undefined && { max_budget_usd: flags.maxCostUsd }) },
    evaluation: {
      ...evaluation,
      ...(flags.judgeModel !== undefined && { model: apiModelName(flags.judgeModel) }),
      ...(flags.samples !== undefined && { num_samples: flags.samples }),
    },
  }
}
