import { betaCdf, betaQuantile, bisect } from './beta-cdf.ts'

export interface Beta {
  readonly a: number
  readonly b: number
}

/** What is known of a share: the lower bounds of all its confidence intervals are one distribution, the upper bounds another. */
export interface Bounds {
  readonly lower: Beta
  readonly upper: Beta
}

/** A value with its 95% interval and the two-sided p for 0. The interval contains 0 exactly when p is above .05. */
export interface Melded {
  readonly low: number
  readonly high: number
  readonly p: number
}

const points = 200
const tail = 0.025

export function boundsOf(passes: number, n: number): Bounds {
  return { lower: { a: passes, b: n - passes + 1 }, upper: { a: passes + 1, b: n - passes } }
}

/**
 * The difference of two shares by melding their intervals (Fay, Proschan and Brittain, "Combining one-sample confidence procedures for
 * inference in the two-sample case", Biometrics 2015). For two plain shares its p is that of Fisher's exact test, the smaller tail doubled.
 */
export function meldedDifference(before: Bounds, after: Bounds): Melded {
  // The chance of a difference of at most x, with every bound taken against the claim that is tested.
  const below = (from: Beta, to: Beta): ((x: number) => number) => {
    // The integral of a step is inexact, and not needed.
    if (to.a <= 0 || to.b <= 0) return (x) => 1 - betaCdf((to.a <= 0 ? 0 : 1) - x, from.a, from.b)
    const parts = partsOf(from)
    return (x) => mean(parts, (value) => betaCdf(value + x, to.a, to.b))
  }
  return interval(below(before.upper, after.lower), below(before.lower, after.upper))
}

/**
 * The product of how much changes and in which direction it goes, melded in the same way (Fay and Lumbard, "Confidence intervals for
 * difference in proportions for matched pairs compatible with exact McNemar's or sign tests", Statistics in Medicine 2021).
 */
export function meldedProduct(size: Bounds, direction: Bounds): Melded {
  const [little, much] = [partsOf(size.lower), partsOf(size.upper)]
  // A direction of .5 is none. Nothing of size 0 has a direction.
  const below = (sizes: readonly Part[], { a, b }: Beta, x: number): number =>
    x === 0
      ? betaCdf(0.5, a, b)
      : mean(sizes, (value) => (value === 0 ? Number(x > 0) : betaCdf((x / value + 1) / 2, a, b)))
  return interval(
    (x) => below(x > 0 ? little : much, direction.lower, x),
    (x) => below(x > 0 ? much : little, direction.upper, x),
  )
}

/** On which side of 0 a bound lies is decided by p itself, so that rounding cannot make the two contradict. */
function interval(lower: (x: number) => number, upper: (x: number) => number): Melded {
  const [atMost, atLeast] = [lower(0), 1 - upper(0)]
  const isBelowLow = (x: number): boolean => lower(x) < tail
  const isBelowHigh = (x: number): boolean => upper(x) < 1 - tail
  return {
    low: atMost < tail ? bisect(isBelowLow, 0, 1) : bisect(isBelowLow, -1, 0),
    high: atLeast < tail ? bisect(isBelowHigh, -1, 0) : bisect(isBelowHigh, 0, 1),
    p: Math.min(1, 2 * Math.min(atMost, atLeast)),
  }
}

/** A share of the distribution, by its value. */
interface Part {
  readonly value: number
  readonly weight: number
}

const known = new Map<string, readonly Part[]>()

/** The parts lie closer at both ends, because small tails decide. */
function partsOf({ a, b }: Beta): readonly Part[] {
  const key = `${a} ${b}`
  const parts =
    known.get(key) ??
    Array.from({ length: points }, (_, index) => {
      const angle = (Math.PI * (index + 0.5)) / points
      return {
        value: betaQuantile(Math.sin(angle / 2) ** 2, a, b),
        weight: Math.sin(angle) * Math.sin(Math.PI / (2 * points)),
      }
    })
  if (known.size < 1_000) known.set(key, parts)
  return parts
}

function mean(parts: readonly Part[], of: (value: number) => number): number {
  return parts.reduce((sum, { value, weight }) => sum + weight * of(value), 0)
}
