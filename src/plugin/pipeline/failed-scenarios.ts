import { GantryError } from '../../core/error.ts'
import type { Store } from '../../store/contract.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { evaluationFiles, readScenarios } from './evaluation-files.ts'
import { readEvaluationState } from './read-evaluation-state.ts'

/** The scenarios that --fast runs again. */
export interface FailedScenarios {
  readonly runId: string
  /** Empty when unknown. */
  readonly pluginName: string
  readonly scenarios: readonly PluginScenario[]
}

/**
 * The scenarios of a run that did not pass, wrong triggers as well as errors, unchanged and with their ids, so that the two
 * runs can be compared. Throws GantryError when no scenario failed.
 */
export async function failedScenarios(store: Store, wanted: string): Promise<FailedScenarios> {
  const runId = findRun(store, wanted, { kind: 'plugin' })
  const run = openRun(store, runId)
  const failed = new Set<string>()
  let trials = 0
  for await (const record of run.trials()) {
    trials += 1
    if (record.verdict !== 'pass') failed.add(record.case)
  }
  if (trials === 0)
    throw new GantryError('NOT_FOUND', `run ${runId} has no verdicts yet`, {
      hint: `Finish it first: gantry plugin resume ${runId}`,
    })
  if (failed.size === 0)
    throw new GantryError('USAGE', `nothing failed in run ${runId}`, { hint: 'Leave out --fast.' })
  const scenarios = readScenarios(evaluationFiles(run.dir)).filter(({ id }) => failed.has(id))
  return { runId, pluginName: readEvaluationState(run.dir)?.plugin_name ?? '', scenarios }
}
