import { basename } from 'node:path'
import { createRedaction } from '../../core/redaction.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import { gitInfo } from '../../io/git.ts'
import { lazyBoundary } from '../../models/boundary/lazy-boundary.ts'
import { createBudget } from '../../models/budget.ts'
import type { LiveRun } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import { resumeRun } from '../../store/resume-run.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { PluginStage } from '../contract.ts'
import { type EvaluationState, lost, rewoundTo } from '../state/evaluation-state.ts'
import { type EvaluationFiles, evaluationFiles } from './evaluation-files.ts'
import type { EvaluationPowers, EvaluationRequest, EvaluationWork } from './evaluation-work.ts'
import type { FailedScenarios } from './failed-scenarios.ts'
import { frozen, thawed } from './frozen-request.ts'
import { keepEmbedded } from './keep-embedded.ts'
import { readStateOf } from './read-evaluation-state.ts'
import { refuseChangedPlugin } from './refuse-changed-plugin.ts'
import { requireDataFor, resumePoint } from './resume-point.ts'
import { spentSoFar } from './spent-so-far.ts'
import { lostBy, undoStages } from './undo-stages.ts'

/** An evaluation that lets go of its run, and of the boundary, when the scope ends. */
export type OpenEvaluation = EvaluationWork & AsyncDisposable

/** A new run with its configuration frozen. */
export async function openEvaluation(
  request: EvaluationRequest,
  powers: EvaluationPowers,
  fast: FailedScenarios | null = null,
): Promise<OpenEvaluation> {
  const { store, project, env, argv, cwd } = powers
  const redaction = createRedaction(project.config.redact, env)
  const git = await gitInfo(request.target.path)
  const run = createRun(store, {
    kind: 'plugin',
    title: basename(request.target.path),
    argv: argv.map(redaction.text),
    cwd,
    ...(git !== null && { commit_sha: git.commit ?? 'unknown', dirty: git.dirty }),
    details: { plugin_path: request.target.path },
    ...(fast !== null && { refers_to: [fast.runId] }),
    onWarning: (message) => powers.onStep({ kind: 'note', level: 'warning', message }),
  })
  const files = evaluationFiles(run.dir)
  writeJsonAtomic(files.config, redaction.value(frozen(request)))
  const state: EvaluationState = {
    schema_version: 2,
    run_id: run.id,
    plugin_name: basename(request.target.path),
    plugin_path: request.target.path,
    content_hash: '',
    stage: 'pending',
    until: request.until,
    timestamp: store.clock.now().toISOString(),
    replay: request.replay,
    cassettes: request.cassettes,
    fast_from: fast?.runId ?? null,
    failed_scenario_ids: [],
    error: null,
    undoing: null,
    lost_cost_usd: 0,
  }
  if (fast !== null)
    writeJsonAtomic(files.scenarios, {
      schema_version: 1,
      plugin_name: fast.pluginName,
      scenarios: fast.scenarios,
    })
  writeJsonAtomic(files.state, state)
  return work(request, powers, run, state, 0)
}

export interface ResumeOptions {
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
  options: ResumeOptions,
  powers: EvaluationPowers,
): Promise<OpenEvaluation> {
  const { store, onStep } = powers
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
    const asked = thawed({ files, state: migrated.state, isOlder, env: powers.env })
    const request: EvaluationRequest = {
      ...asked,
      config: options.change?.(asked.config) ?? asked.config,
      until: options.until ?? 'evaluation',
    }
    const state = isOlder
      ? keepEmbedded(files, migrated, readJsonIfExists(files.state), store.clock.now())
      : migrated.state
    for (const message of migrated.notes) onStep({ kind: 'note', level: 'info', message })
    const next = await goOn(files, run, state, request, options, powers)
    const { generation, execution, evaluation } = spentSoFar(files)
    return work(request, powers, run, next, next.lost_cost_usd + generation + execution + evaluation)
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
  { fromStage }: ResumeOptions,
  { store, cwd }: EvaluationPowers,
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

function work(
  request: EvaluationRequest,
  powers: EvaluationPowers,
  run: LiveRun,
  begin: EvaluationState,
  spentUsd: number,
): OpenEvaluation {
  const files = evaluationFiles(run.dir)
  const boundary = lazyBoundary()
  let state = begin
  return {
    request,
    powers,
    run,
    files,
    budget: createBudget(request.config.execution.max_budget_usd, spentUsd),
    redaction: createRedaction(powers.project.config.redact, powers.env, request.config.execution.env),
    boundary: boundary.get,
    state: () => state,
    advance: (change) => {
      state = change(state, powers.store.clock.now())
      writeJsonAtomic(files.state, state)
    },
    [Symbol.asyncDispose]: async () => {
      await boundary[Symbol.asyncDispose]()
      run.release()
    },
  }
}
