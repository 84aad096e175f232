import { removeTree } from '../../io/files.ts'
import type { LiveRun } from '../../store/contract.ts'
import { type PluginStage, stages } from '../contract.ts'
import type { EvaluationState } from '../state/evaluation-state.ts'
import { type EvaluationFiles, trialNames } from './evaluation-files.ts'
import type { Spent } from './spent-so-far.ts'

/**
 * Throws away what a stage and those after it left behind, so that nothing of it is taken for new. Where only the evaluation is
 * done again, the answers of judges stay: the same question is not paid for twice. May be cut off at any point and done again.
 */
export function undoStages(
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
export function lostBy(from: PluginStage, { generation, execution, evaluation }: Spent): number {
  return (
    (isBefore(from, 'execution') ? generation : 0) +
    (isBefore(from, 'evaluation') ? execution + evaluation : 0)
  )
}

function isBefore(a: PluginStage, b: PluginStage): boolean {
  return stages.indexOf(a) < stages.indexOf(b)
}
