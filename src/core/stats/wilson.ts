import type { Rate } from '../summary.ts'

/** The two-sided 95% quantile of the normal distribution. */
export const z95 = 1.959963984540054

/**
 * A share with its Wilson 95% interval: honest for few trials and at both ends, where 3 of 3 still only says
 * "44% or more". `successes` may be fractional. Without trials nothing is known: the interval is 0 to 1.
 */
export function wilsonRate(successes: number, n: number): Rate {
  if (n <= 0) return { value: null, low: 0, high: 1, n: 0 }
  const share = successes / n
  const zSquared = z95 ** 2
  const scale = 1 + zSquared / n
  const centre = (share + zSquared / (2 * n)) / scale
  const halfWidth = (z95 / scale) * Math.sqrt((share * (1 - share)) / n + zSquared / (4 * n ** 2))
  return {
    value: share,
    // At 0 and 1 the bound is exactly the share. Avoid the rounding error.
    low: successes <= 0 ? 0 : Math.max(0, centre - halfWidth),
    high: successes >= n ? 1 : Math.min(1, centre + halfWidth),
    n,
  }
}
