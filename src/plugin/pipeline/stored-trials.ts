import { isFile } from '../../io/path-kind.ts'
import type { TrialHeader } from '../../report/contract.ts'
import type { StoredTrial } from '../evaluate/stored/evaluate-stored.ts'
import type { PluginTrial } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { readExecution, readScenarios, readTranscript } from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { plannedTrials } from './planned-trials.ts'

export interface StoredTrials {
  /** In plan order. */
  readonly made: readonly StoredTrial[]
  /** Planned and never made, those of the arm without the plugin left out. */
  readonly notRun: readonly TrialHeader[]
  scenarioOf(trial: PluginTrial): PluginScenario | undefined
}

/** What stage 3 left on disk. Nothing of it is read before its turn. */
export function storedTrials({ request, files }: Pick<EvaluationWork, 'request' | 'files'>): StoredTrials {
  const scenarios = readScenarios(files)
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const made: StoredTrial[] = []
  const notRun: TrialHeader[] = []
  for (const trial of plannedTrials(scenarios, request)) {
    const scenario = byId.get(trial.scenario_id)
    if (scenario === undefined) continue
    if (isFile(files.execution(trial.id)))
      made.push({
        trial,
        scenario,
        execution: () => readExecution(files, trial.id) ?? 'damaged',
        transcript: () => readTranscript(files, trial.id),
      })
    else if (trial.arm !== 'without')
      notRun.push({
        id: trial.id,
        case: trial.scenario_id,
        agent: request.config.execution.agent,
        model: request.config.execution.model,
        attempt: trial.rep,
      })
  }
  return { made, notRun, scenarioOf: ({ scenario_id: id }) => byId.get(id) }
}
