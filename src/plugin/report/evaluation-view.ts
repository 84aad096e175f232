import type { RunSummary } from '../../core/summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import type { FinishedRun } from '../../report/contract.ts'
import { componentId, componentList } from '../component-list.ts'
import type { EvaluationSummary } from '../evaluate/metrics/evaluation-summary.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { type AnalysisFacts, evaluationSections } from './evaluation-sections.ts'
import { likelyCause } from './what-to-change.ts'

export interface EvaluationFacts {
  readonly runId: string
  readonly summary: EvaluationSummary
  readonly analysis: AnalysisFacts
  readonly scenarios: readonly PluginScenario[]
}

/** What reporters get of an evaluation besides its trials: tables, likely causes, and next steps. */
export function evaluationView(
  { counts, notRun }: Pick<RunSummary, 'counts' | 'notRun'>,
  { runId, summary, analysis, scenarios }: EvaluationFacts,
): Pick<FinishedRun, 'sections' | 'nextSteps' | 'showCases' | 'diagnose'> {
  return {
    sections: evaluationSections(summary, analysis),
    diagnose: diagnosis(analysis, scenarios),
    nextSteps: [
      ...(notRun > 0 ? [`Continue with: gantry plugin resume ${runId} --from-stage execution`] : []),
      ...(summary.needs_recording.length > 0 ? ['Record what changed: run it again with --replay auto'] : []),
      ...(counts.fail + counts.infra > 0
        ? [`After a fix, run the failed scenarios again: gantry plugin run --fast --failed-run ${runId}`]
        : []),
    ],
    // With one trial per scenario and arm the table would only repeat the failures.
    showCases: summary.repetition_stats !== null,
  }
}

/** Only for component triggers: graders explain their results themselves. */
function diagnosis(
  { components }: AnalysisFacts,
  scenarios: readonly PluginScenario[],
): (trial: TrialRecord) => readonly string[] {
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const known = new Map(
    componentList(components).map((one) => [componentId(one.type, one.component.name), one]),
  )
  return ({ verdict, gates, case: id }) => {
    const scenario = byId.get(id)
    const hasMissed = gates.some(({ type, passed }) => type === 'component_triggered' && !passed)
    if (verdict !== 'fail' || !hasMissed || scenario === undefined) return []
    const found = known.get(componentId(scenario.component_type, scenario.component_ref))
    return found === undefined ? [] : [likelyCause(scenario, found)]
  }
}
