import { fileStamp } from '../io/directory.ts'
import { runFile } from './run-paths.ts'

/** Changes whenever the manifest or the trial log of a run does: two system calls tell whether a row is stale. */
export function runStamp(runDir: string): string {
  return `${fileStamp(runFile.manifest(runDir))} ${fileStamp(runFile.trialLog(runDir))}`
}
