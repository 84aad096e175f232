import { dirname, relative, sep } from 'node:path'
import type { TrialRecord } from '../core/trial.ts'

/** Path from a report to a trial's directory, with `/`, so that a run directory can be moved with its reports. */
export function trialLink(reportPath: string): (record: TrialRecord) => string {
  const from = dirname(reportPath)
  return ({ dir }) => relative(from, dir).split(sep).join('/') || '.'
}
