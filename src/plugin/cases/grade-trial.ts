import type { GateResult } from '../../core/trial.ts'
import type { SampleCheckpoint } from '../../judge/take-samples.ts'
import type { Arm } from '../contract.ts'
import { type GraderGate, graderScore } from '../evaluate/trial-verdict.ts'
import type { Execution, PluginTranscript } from '../execute/contract.ts'
import type { Grader, PluginScenario } from '../generate/contract.ts'
import { gradeFreely } from './grade/free-graders.ts'
import { gradeForMoney, isPaid } from './grade/paid-graders.ts'
import type { GivenPassVote, VoteOptions } from './grade/take-votes.ts'
import type { GradedTrial } from './grade/target-text.ts'

export interface GradeOptions {
  /** All arms of the run: they decide which graders are scored. */
  readonly arms: readonly Arm[]
  /** null: no judge is available; graders that need one report this. */
  readonly judge: VoteOptions | null
  /** Keeps the votes for a grader, by its name. */
  readonly checkpoint?: (grader: string) => SampleCheckpoint<GivenPassVote>
}

export interface GradedCase {
  /** Each grader with its weight, whether it is scored, and why it could not be evaluated. */
  readonly gates: readonly GraderGate[]
  /** Weighted share of passed graders; null without scored graders, or when one of them could not be evaluated. */
  readonly score: number | null
  /** null = unmetered. */
  readonly cost_usd: number | null
}

/** Runs every grader of a case on a trial, with the same meaning as in `claude plugin eval`. */
export async function gradeTrial(
  scenario: PluginScenario,
  execution: Execution,
  transcript: PluginTranscript | null,
  { arms, judge, checkpoint }: GradeOptions,
): Promise<GradedCase> {
  const trial: GradedTrial = { scenario, execution, transcript }
  const graders = scoredGraders(scenario.case?.graders ?? [], execution.trial.arm, arms)
  // A trial that did not happen is not worth a judge's money.
  const isMoot = execution.failure !== undefined || execution.invalid !== undefined
  const graded = await Promise.all(
    graders.map(async ({ grader, scored }) => {
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

const noVotes = { passed: null, message: 'no judge is available', costUsd: 0 }

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
  /** false: it is shown but not scored. */
  readonly scored: boolean
}

/**
 * Which graders run in an arm, and which are scored. When trials with and without the plugin are compared, a grader that can only
 * pass with the plugin would distort the difference: it is shown but not scored, and does not run without the plugin. If there are
 * no other graders, all are scored.
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
