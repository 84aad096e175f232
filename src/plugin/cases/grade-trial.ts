import type { GateResult } from '../../core/trial.ts'
import type { SampleCheckpoint } from '../../judge/take-samples.ts'
import type { Arm } from '../contract.ts'
import { type GraderGate, graderScore } from '../evaluate/trial-verdict.ts'
import type { Execution, PluginTranscript } from '../execute/contract.ts'
import type { Grader, PluginScenario } from '../generate/contract.ts'
import { gradeFreely } from './grade/free-graders.ts'
import { gradeForMoney, isPaid } from './grade/paid-graders.ts'
import type { GivenPassVote, VotePowers } from './grade/take-votes.ts'
import type { GradedTrial } from './grade/target-text.ts'

export interface GradePowers {
  /** All arms of the run: whether trials with and without the plugin are compared decides which graders count. */
  readonly arms: readonly Arm[]
  /** null: nobody can be asked; graders that need a judge say so. */
  readonly judge: VotePowers | null
  /** Keeps the votes for a grader, by its name. */
  readonly checkpoint?: (grader: string) => SampleCheckpoint<GivenPassVote>
}

export interface GradedCase {
  /** Each grader with its weight, whether it counts, and why it could not be asked if that is so. */
  readonly gates: readonly GraderGate[]
  /** Weighted share of graders passed; null without graders that count, or when one of them could not be asked. */
  readonly score: number | null
  /** null = unmetered. */
  readonly cost_usd: number | null
}

/** Asks every grader of a case about a trial, with the meaning the graders have for `claude plugin eval`. */
export async function gradeTrial(
  scenario: PluginScenario,
  execution: Execution,
  transcript: PluginTranscript | null,
  { arms, judge, checkpoint }: GradePowers,
): Promise<GradedCase> {
  const trial: GradedTrial = { scenario, execution, transcript }
  const asked = scoredGraders(scenario.case?.graders ?? [], execution.trial.arm, arms)
  // A trial that did not happen is not worth a judge's money.
  const isMoot = execution.failure !== undefined || execution.invalid !== undefined
  const graded = await Promise.all(
    asked.map(async ({ grader, scored }) => {
      const { passed, message, costUsd } = !isPaid(grader)
        ? { ...gradeFreely(grader, trial), costUsd: 0 }
        : isMoot || judge === null
          ? noVotes
          : await gradeForMoney(grader, trial, judge, checkpoint?.(grader.name))
      const gate: GraderGate = {
        weight: grader.weight,
        scored,
        gate: gateOf(grader, scored, passed === true, message),
        ...(passed === null && { error: message }),
      }
      return { gate, costUsd }
    }),
  )
  const gates = graded.map(({ gate }) => gate)
  const isUndecided = gates.some(({ error, scored }) => error !== undefined && scored)
  return {
    gates,
    score: isUndecided ? null : graderScore(gates),
    cost_usd: graded.reduce<number | null>(
      (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
      0,
    ),
  }
}

const noVotes = { passed: null, message: 'there is no judge to ask', costUsd: 0 }

function gateOf(
  { type, name, weight }: Grader,
  scored: boolean,
  passed: boolean,
  message: string,
): GateResult {
  return { type, passed, message: `${name}: ${message}`, detail: { grader: name, weight, scored } }
}

interface ArmGrader {
  readonly grader: Grader
  /** false: it is shown and does not count. */
  readonly scored: boolean
}

/**
 * Which graders are asked in an arm, and which count. Where trials without the plugin are compared with trials with it, a grader
 * that can only pass with it would make up the difference: it is shown and does not count, and is not asked without the plugin.
 * If there are no others they all count.
 */
function scoredGraders(graders: readonly Grader[], arm: Arm, arms: readonly Arm[]): readonly ArmGrader[] {
  const isCompared = arms.includes('without') && arms.length > 1
  if (!isCompared || graders.every(isWithOnly)) return graders.map((grader) => ({ grader, scored: true }))
  return graders
    .map((grader) => ({ grader, scored: !isWithOnly(grader) }))
    .filter(({ scored }) => scored || arm !== 'without')
}

function isWithOnly(grader: Grader): boolean {
  if (grader.arm !== 'default') return grader.arm === 'with-only'
  return grader.type === 'tool_used' && grader.use.tool === 'Skill'
}
