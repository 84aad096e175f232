/** Chance that a value of the beta distribution is at most `x`. Degenerate distributions (a or b of 0) lie at 0 or 1. */
export function betaCdf(x: number, a: number, b: number): number {
  if (x >= 1) return 1
  if (x < 0) return 0
  if (a <= 0) return 1
  if (b <= 0 || x === 0) return 0
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta(a, b))
  // The continued fraction converges fast on its own side of the mean.
  return x < (a + 1) / (a + b + 2)
    ? (front * continuedFraction(x, a, b)) / a
    : 1 - (front * continuedFraction(1 - x, b, a)) / b
}

/** The value that a share of `share` of the beta distribution lies below. */
export function betaQuantile(share: number, a: number, b: number): number {
  if (a <= 0) return 0
  if (b <= 0) return 1
  return bisect((x) => betaCdf(x, a, b) < share, 0, 1)
}

/** Where `isBelow` turns from true to false. */
export function bisect(isBelow: (value: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to]
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2
    if (isBelow(middle)) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Of the distribution asked for last: most callers look at many values of one. */
let known = { a: 1, b: 1, logBeta: 0 }

function logBeta(a: number, b: number): number {
  if (known.a !== a || known.b !== b) known = { a, b, logBeta: logGamma(a) + logGamma(b) - logGamma(a + b) }
  return known.logBeta
}

const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
]

/** Lanczos approximation for positive values, good to 14 digits. */
function logGamma(value: number): number {
  if (value < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * value)) - logGamma(1 - value)
  const x = value - 1
  const base = x + lanczos.length - 0.5
  const sum = lanczos.reduce((total, term, index) => total + term / (x + index + 1), 0.9999999999998099)
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(base) - base + Math.log(sum)
}

/** Lentz's method for the continued fraction of the incomplete beta function. */
function continuedFraction(x: number, a: number, b: number): number {
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= 300; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    result *= d * c
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    result *= d * c
    if (Math.abs(d * c - 1) < 1e-14) break
  }
  return result
}

function away(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value
}
