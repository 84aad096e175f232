import { z95 } from './wilson.ts'

/** The normal quantile for 80 % power. */
const zPower = 0.8416212335729143

export interface PrecisionPlan {
  readonly cases: number
  readonly runs: number
  /** The pass rate expected of both sides. */
  readonly passRate?: number
  /** Standard deviation between cases of the true difference. */
  readonly betweenCaseSd?: number
}

/** Both as shares of 1. */
export interface PlanPrecision {
  /** Half the width of the 95 % interval around a measured difference. */
  readonly halfWidth: number
  /** Smallest true difference that is found in 80 of 100 comparisons. */
  readonly detectable: number
}

/**
 * What a plan can find out before any money is spent: the precision of the difference between two sides that run the same
 * cases equally often. Per case the difference varies by its own spread between cases and by the luck of both sides'
 * runs; only more cases shrink the first. null for a plan without trials.
 */
export function planPrecision(plan: PrecisionPlan): PlanPrecision | null {
  const { cases, runs, passRate = 0.7, betweenCaseSd = 0.15 } = plan
  if (cases < 1 || runs < 1) return null
  const luck = (2 * passRate * (1 - passRate)) / runs
  const standardError = Math.sqrt((betweenCaseSd ** 2 + luck) / cases)
  return { halfWidth: z95 * standardError, detectable: (z95 + zPower) * standardError }
}
