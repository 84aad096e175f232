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
import { thawed } from './stored-request.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'

export interface ResumeEvaluationOptions {
  /** As a person names a run. */
  readonly run: string
  /** Done again from here; default: the stage after the last completed one. */
  readonly fromStage?: PluginStage
  readonly until?: PluginStage
  /** The plugin it must be of, by name. */
  readonly pluginName?: string
  /** What is said anew on the command line, over what is frozen. */
  readonly change?: (config: PluginConfig) => PluginConfig
}

/**
 * A run taken up again, exactly as it was asked for. Throws GantryError, and leaves everything as it was, when its state is of
 * another run or plugin, when it cannot be read, or when the plugin has changed since.
 */
export async function resumeEvaluation(
  options: ResumeEvaluationOptions,
  context: EvaluationContext,
): Promise<OpenEvaluation> {
  const { store, onStep } = context
  const id = findRun(store, options.run, { kind: 'plugin' })
  const files = evaluationFiles(openRun(store, id).dir)
  // Before the lock is asked for, which leaves a mark in the manifest, and again when nobody else can change it.
  readStateOf(files, options.pluginName)
  const run = resumeRun(store, id, {
    onWarning: (message) => onStep({ kind: 'note', level: 'warning', message }),
  })
  try {
    const migrated = readStateOf(files, options.pluginName)
    const isOlder = migrated.notes.length > 0
    const asked = thawed({ files, state: migrated.state, isOlder, env: context.env })
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

/** The state with which a run goes on, on disk, and what it is to forget forgotten. */
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
 * Where a run goes on by itself. Trials that were never made, for want of money or because they were broken by the machinery,
 * are made first; a run that lacks nothing is evaluated again.
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

/** Nothing is thrown away for a stage that could not begin. Throws GantryError that says which stage has to be done first. */
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
 * Throws away what a stage and those after it left behind, so that nothing of it is taken for new. Where only the evaluation is
 * done again, the answers of judges stay: the same question is not paid for twice. May be cut off at any point and done again.
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
    // In fast mode they came with the request.
    if (fastFrom === null) removeTree(files.scenarios)
  }
}

/** What `undoStages` throws away has cost so much. */
function lostBy(from: PluginStage, { generation, execution, evaluation }: Spent): number {
  return (
    (isBefore(from, 'execution') ? generation : 0) +
    (isBefore(from, 'evaluation') ? execution + evaluation : 0)
  )
}

function isBefore(a: PluginStage, b: PluginStage): boolean {
  return stages.indexOf(a) < stages.indexOf(b)
}

/** Trials of two versions of a plugin in one report would say something of neither. What is only judged may be of any version. */
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
 * What an older version kept inside its state goes into the files it lies in today; what is there already stays, and so does the
 * older state itself, under another name. Returns where the run stands then: what is not in the form of today is made anew.
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
