import { join } from 'node:path'
import { counted } from '../../core/counted.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import { note } from '../contract.ts'
import { type EvaluationState, type MigratedState, rewoundTo } from '../state/evaluation-state.ts'
import { olderExecutions, olderScenarios, olderTrial } from '../state/older-trial.ts'
import {
  type EvaluationFiles,
  isAnalysis,
  isScenariosFile,
  keepExecution,
  readScenarios,
  readWhole,
  writeScenarios,
} from './evaluation-files.ts'
import type { EvaluationContext, EvaluationRequest } from './evaluation-work.ts'
import { analysed } from './run-analysis.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'

/**
 * Moves parts that an older version kept inside its state into the files of today, so that nothing that was paid for runs again. Existing
 * files are kept, and the older state is kept under another name. Returns the new state: stages whose data cannot be read run again.
 */
export async function unpackOlder(
  files: EvaluationFiles,
  { state, embedded }: MigratedState,
  raw: unknown,
  request: Pick<EvaluationRequest, 'config' | 'target'>,
  { cwd, onStep, store }: Pick<EvaluationContext, 'cwd' | 'onStep' | 'store'>,
): Promise<EvaluationState> {
  const older = join(files.dir, 'state.older.json')
  if (!isFile(older)) writeJsonAtomic(older, raw)
  const now = store.clock.now()
  if (state.stage === 'pending') return state
  await keepAnalysis(files, embedded.analysis, state.plugin_path, cwd)
  const scenarios = olderScenarios(embedded.scenarios)
  if (scenarios !== null && !isScenariosFile(readWhole(files.scenarios)))
    writeScenarios(files.scenarios, state.plugin_name, scenarios)
  if (state.stage === 'analysis') return state
  if (!isScenariosFile(readWhole(files.scenarios))) return rewoundTo(state, 'generation', state.until, now)
  const kept = readScenarios(files)
  const trials = plannedTrials(kept, request).filter(({ id }) => !isTrialDone(files, id))
  const results = olderExecutions(embedded.executions ?? [])
  const facts = {
    pluginName: state.plugin_name,
    strategy: request.config.execution.session_strategy ?? 'isolated',
  }
  for (const trial of trials) {
    const result = trial.rep === 1 ? results.get(trial.scenario_id) : undefined
    const scenario = kept.find(({ id }) => id === trial.scenario_id)
    const made = result && scenario && (await olderTrial(result, trial, scenario, facts))
    if (made) keepExecution(files, made.execution, made.transcript)
  }
  const open = trials.filter(({ id }) => !isTrialDone(files, id)).length
  if (trials.length > 0)
    note(
      onStep,
      'info',
      `${counted(trials.length - open, 'trial')} of the older version used as they are, ${open} to run`,
    )
  return state
}

/** Analysis costs nothing, so one of another shape is made again instead of every stage after it. */
async function keepAnalysis(files: EvaluationFiles, embedded: unknown, path: string, cwd: string) {
  if (isAnalysis(readWhole(files.analysis))) return
  const analysis = isAnalysis(embedded) ? embedded : await analysed({ path, cwd, crowd: [] })
  writeJsonAtomic(files.analysis, analysis)
}
