import { readJsonIfExists } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import type { TrialHeader } from '../../report/contract.ts'
import type { StoredTrial } from '../evaluate/stored/evaluate-stored.ts'
import { isExecution, isTranscript, isUninformative } from '../evaluate/stored/read-trial.ts'
import type { PluginTrial } from '../execute/contract.ts'
import { planTrials } from '../execute/plan-trials.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { type EvaluationFiles, readScenarios, readWhole } from './evaluation-files.ts'
import type { EvaluationRequest, EvaluationWork } from './evaluation-work.ts'

/** The trials that stage 3 stored, in the order of the plan. Each is read only when it is evaluated. */
export function storedTrials({ request, files }: Pick<EvaluationWork, 'request' | 'files'>) {
  const scenarios = readScenarios(files)
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const made: StoredTrial[] = []
  /** Planned trials that never ran, except those of the arm without the plugin. */
  const notRun: TrialHeader[] = []
  for (const trial of plannedTrials(scenarios, request)) {
    const scenario = byId.get(trial.scenario_id)
    if (scenario === undefined) continue
    if (isFile(files.execution(trial.id)))
      made.push({
        trial,
        scenario,
        execution: () => readJsonIfExists(files.execution(trial.id)),
        transcript: () => readJsonIfExists(files.transcript(trial.id)),
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
  return { made, notRun, scenarioOf: ({ scenario_id: id }: PluginTrial) => byId.get(id) }
}

/** Every planned trial of a run. The same at every call, because the request does not change. */
export function plannedTrials(
  scenarios: readonly PluginScenario[],
  { config, target }: Pick<EvaluationRequest, 'config' | 'target'>,
): readonly PluginTrial[] {
  return planTrials(scenarios, config, target.arms)
}

/**
 * Whether a trial is complete and need not run again. Trials that failed for infrastructure reasons or were invalid run again,
 * because the cause may be fixed by now. So do trials with truncated traces, because they cannot be judged.
 */
export function isTrialDone(files: EvaluationFiles, trialId: string): boolean {
  const execution = readWhole(files.execution(trialId))
  if (!isExecution(execution) || execution.trial.id !== trialId || isUninformative(execution)) return false
  return isTranscript(readWhole(files.transcript(trialId)))
}
