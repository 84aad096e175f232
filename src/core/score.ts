import type { ScoreTier } from './trial.ts'

/** Shares of the composite score. */
export interface ScoreWeights {
  readonly judge: number
  readonly gates: number
  readonly interaction: number
}

const defaultScoreWeights: ScoreWeights = { judge: 0.55, gates: 0.35, interaction: 0.1 }

export interface ScoreParts {
  /** null: the case has no judge. 0: it has one that was not called because a gate failed. */
  readonly judgeScore: number | null
  readonly gatesPassed: number
  readonly gatesTotal: number
  /** null: unknown. */
  readonly firstTrySuccessRate: number | null
}

/**
 * One number for comparing trials. It never decides a verdict. A part that was not measured is left out, and the weights of the others
 * keep their proportion; null when nothing was measured. Each part and the result are clamped to 0..1, because a case's weights
 * may miss 1 by a rounding error.
 */
export function compositeScore(
  parts: ScoreParts,
  weights: ScoreWeights = defaultScoreWeights,
): number | null {
  const measured = [
    [weights.judge, parts.judgeScore],
    [weights.gates, parts.gatesTotal === 0 ? null : parts.gatesPassed / parts.gatesTotal],
    [weights.interaction, parts.firstTrySuccessRate],
  ].filter((part): part is [number, number] => part[1] !== null)
  const whole = measured.reduce((sum, [weight]) => sum + weight, 0)
  if (whole === 0) return null
  const sum = measured.reduce((total, [weight, value]) => total + weight * clamp(value), 0)
  // .55 + .35 + .1 is not 1 in binary, and .9 must be Excellent.
  return clamp(Math.round((sum / whole) * 1e9) / 1e9)
}

export function scoreTier(score: number): ScoreTier {
  if (score >= 0.9) return 'Excellent'
  if (score >= 0.7) return 'Good'
  if (score >= 0.5) return 'Acceptable'
  return 'Poor'
}

/** Anything that is not a number counts as 0. */
function clamp(value: number): number {
  return value > 0 ? Math.min(1, value) : 0
}
