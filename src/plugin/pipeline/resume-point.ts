import { GantryError } from '../../core/error.ts'
import { isFile } from '../../io/path-kind.ts'
import type { PluginStage } from '../contract.ts'
import { type EvaluationState, rewoundTo } from '../state/evaluation-state.ts'
import { type EvaluationFiles, readAnalysis, readScenarios, trialNames } from './evaluation-files.ts'
import type { EvaluationRequest } from './evaluation-work.ts'
import { isMade } from './is-made.ts'
import { plannedTrials } from './planned-trials.ts'

/**
 * Where a run goes on by itself. Trials that were never made, for want of money or because they were broken by the machinery,
 * are made first; a run that lacks nothing is evaluated again.
 */
export function resumePoint(
  files: EvaluationFiles,
  state: EvaluationState,
  request: EvaluationRequest,
  now: Date,
): EvaluationState {
  const { until } = request
  if (state.stage === 'pending' || state.stage === 'analysis' || state.stage === 'generation')
    return { ...state, until }
  const isWhole = plannedTrials(readScenarios(files), request).every(({ id }) => isMade(files, id))
  return rewoundTo(state, isWhole ? 'evaluation' : 'execution', until, now)
}

/** Nothing is thrown away for a stage that could not begin. Throws GantryError that says which stage has to be done first. */
export function requireDataFor(stage: PluginStage, files: EvaluationFiles): void {
  if (stage === 'analysis') return
  readAnalysis(files)
  if (stage === 'generation') return
  readScenarios(files)
  if (stage === 'execution' || trialNames(files).some((id) => isFile(files.execution(id)))) return
  throw new GantryError('NOT_FOUND', `${files.dir} has no trials to evaluate`, {
    hint: `Make them first: gantry plugin resume ${files.runId} --from-stage execution`,
  })
}
