import type { Arm } from '../contract.ts'
import type { Execution } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { PluginJudgement, TrialEvaluation } from './contract.ts'
import { evaluateTrial } from './evaluate-trial.ts'
import type { GraderGate } from './grader-gate.ts'
import { sampleKnown } from './sample-known.ts'
import { sampleExecution, sampleInput, sampleScenario } from './sample-trial.ts'

/** A trial in a few words. */
export interface SampleTrial {
  readonly scenario?: string
  readonly arm?: Arm
  readonly rep?: number
  readonly more?: Partial<PluginScenario>
  /** Skills that were called, in order: `demo:greet`. */
  readonly calls?: readonly string[]
  readonly execution?: Partial<Execution>
  readonly judgement?: PluginJudgement
  readonly graders?: readonly GraderGate[]
}

/** Traces and what follows from them: nothing in an evaluation is made up. */
export function sampleEvaluation({
  scenario: id = 'greet-direct-1',
  arm = 'alone',
  rep = 1,
  more = {},
  calls = [],
  execution: ran = {},
  judgement,
  graders = [],
}: SampleTrial = {}): { readonly evaluation: TrialEvaluation; readonly execution: Execution } {
  const execution = sampleExecution({
    trial: { id: `${id}.${arm}.${rep}`, scenario_id: id, arm, rep },
    scenario_id: id,
    detected_tools: calls.map((skill, index) => ({
      name: 'Skill',
      input: { skill },
      tool_use_id: `toolu_${index}`,
      timestamp: 1_790_000_000_000 + index,
      success: true,
    })),
    ...ran,
  })
  const input = sampleInput({
    known: sampleKnown,
    scenario: sampleScenario({ id, ...more }),
    execution,
    judgement: judgement ?? null,
    graderGates: graders,
  })
  return { execution, evaluation: evaluateTrial(input) }
}
