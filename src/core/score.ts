import type { ScoreTier } from './trial.ts'

/** Shares of the composite score. */
export interface ScoreWeights {
  readonly judge: number
  readonly gates: number
  readonly interaction: number
}

const defaultScoreWeights: ScoreWeights = { judge: 0.55, gates: 0.35, interaction: 0.1 }

export interface ScoreParts {
  /** null when no judge spoke: it then counts as 0, so that a score without a judge never looks like one with. */
  readonly judgeScore: number | null
  readonly gatesPassed: number
  readonly gatesTotal: number
  readonly firstTrySuccessRate: number
}

/**
 * One number for comparing trials; it never decides a verdict. Each part and the sum are held in 0..1: a case's weights
 * may miss 1 by a rounding error.
 */
export function compositeScore(parts: ScoreParts, weights: ScoreWeights = defaultScoreWeights): number {
  const gateShare = parts.gatesTotal === 0 ? 0 : parts.gatesPassed / parts.gatesTotal
  const sum =
    weights.judge * clamp(parts.judgeScore ?? 0) +
    weights.gates * clamp(gateShare) +
    weights.interaction * clamp(parts.firstTrySuccessRate)
  // .55 + .35 + .1 is not 1 in binary, and .9 must be Excellent.
  return clamp(Math.round(sum * 1e9) / 1e9)
}

export function scoreTier(score: number): ScoreTier {
  if (score >= 0.9) return 'Excellent'
  if (score >= 0.7) return 'Good'
  if (score >= 0.5) return 'Acceptable'
  return 'Poor'
}

/** Anything that is not a number counts as nothing. */
function clamp(value: number): number {
  return value > 0 ? Math.min(1, value) : 0
}
