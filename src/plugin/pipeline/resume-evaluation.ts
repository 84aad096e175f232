import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { readJsonIfExists, removeTree, writeJsonAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import type { LiveRun } from '../../store/contract.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import { resumeRun } from '../../store/resume-run.ts'
import { analyzePlugin } from '../analyze/analyze-plugin.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type PluginStage, stages } from '../contract.ts'
import { type EvaluationState, lost, nextStage, rewoundTo } from '../state/evaluation-state.ts'
import type { MigratedState } from '../state/migrate-state.ts'
import {
  type EvaluationFiles,
  evaluationFiles,
  isAnalysis,
  isScenariosFile,
  readAnalysis,
  readScenarios,
  trialNames,
} from './evaluation-files.ts'
import type { EvaluationContext, EvaluationRequest } from './evaluation-work.ts'
import { type OpenEvaluation, work } from './open-evaluation.ts'
import { readStateOf } from './read-evaluation-state.ts'
import { preflightError } from './run-analysis.ts'
import { type Spent, spentSoFar } from './spent-so-far.ts'
import { readStoredRequest } from './stored-request.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'

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
  const id = findRun(store, options.run, { kind: 'plugin' })
  const files = evaluationFiles(openRun(store, id).dir)
  // Checked before locking, because locking changes the manifest, and again when no other process can change it.
  readStateOf(files, options.pluginName)
  const run = resumeRun(store, id, {
    onWarning: (message) => onStep({ kind: 'note', level: 'warning', message }),
  })
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
      ? saveEmbedded(files, migrated, readJsonIfExists(files.state), store.clock.now())
      : migrated.state
    for (const message of migrated.notes) onStep({ kind: 'note', level: 'info', message })
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
    next = { ...lost(rewound, lostBy(fromStage, spentSoFar(files))), undoing: fromStage }
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

/** The cost of what `undoStages` removes. */
function lostBy(from: PluginStage, { generation, execution, evaluation }: Spent): number {
  return (
    (isBefore(from, 'execution') ? generation : 0) +
    (isBefore(from, 'evaluation') ? execution + evaluation : 0)
  )
}

function isBefore(a: PluginStage, b: PluginStage): boolean {
  return stages.indexOf(a) < stages.indexOf(b)
}

/** A report must not mix trials of two versions of a plugin. Evaluating existing trials is allowed with any version. */
async function refuseChangedPlugin(
  { runId }: EvaluationFiles,
  state: EvaluationState,
  cwd: string,
): Promise<void> {
  const stage = nextStage(state)
  if ((stage !== 'generation' && stage !== 'execution') || state.content_hash === '') return
  const outcome = await analyzePlugin({ path: state.plugin_path, cwd, crowd: [] })
  if (outcome.kind === 'refused') throw preflightError(outcome.preflight)
  if (outcome.analysis.content_hash === state.content_hash) return
  throw new GantryError(
    'USAGE',
    `the plugin in ${state.plugin_path} has changed since run ${runId} analysed it`,
    {
      hint: `Start a new run, repeat this one with gantry plugin resume ${runId} --from-stage analysis, or evaluate its existing trials with gantry plugin evaluate ${runId}.`,
    },
  )
}

/**
 * Moves parts that an older version kept inside its state into the files of today. Existing files are kept, and the older state
 * is kept under another name. Returns the new state: stages whose data is not in the current format run again.
 */
function saveEmbedded(
  files: EvaluationFiles,
  { state, embedded }: MigratedState,
  raw: unknown,
  now: Date,
): EvaluationState {
  const older = join(files.dir, 'state.older.json')
  if (!isFile(older)) writeJsonAtomic(older, raw)
  const { analysis, scenarios } = embedded
  if (isAnalysis(analysis) && !isFile(files.analysis)) writeJsonAtomic(files.analysis, analysis)
  const file = { schema_version: 1, plugin_name: state.plugin_name, scenarios }
  if (isScenariosFile(file) && !isFile(files.scenarios)) writeJsonAtomic(files.scenarios, file)
  if (state.stage === 'pending') return state
  if (!isFile(files.analysis)) return rewoundTo(state, 'analysis', state.until, now)
  if (state.stage === 'analysis' || isFile(files.scenarios)) return state
  return rewoundTo(state, 'generation', state.until, now)
}
