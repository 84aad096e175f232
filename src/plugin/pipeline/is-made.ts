import { isMoot, readExecution as readShape } from '../evaluate/stored/read-trial.ts'
import { type EvaluationFiles, readExecution, readTranscript } from './evaluation-files.ts'

/**
 * Whether a trial need not be made again. One that was broken by the machinery is, and so is one that was invalid: whatever broke
 * may be mended by now. So is one whose traces were cut, since nobody could judge it.
 */
export function isMade(files: EvaluationFiles, trialId: string): boolean {
  const execution = readExecution(files, trialId)
  if (execution === null || readShape(execution).kind === 'damaged' || execution.trial.id !== trialId)
    return false
  return !isMoot(execution) && typeof readTranscript(files, trialId) === 'object'
}
