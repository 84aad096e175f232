import { seededRandom } from '../random.ts'

/** Chances of a sum as large, and of one as small, as the sum of `differences`, if each could as well have had the other sign. */
export interface SignFlips {
  readonly asLarge: number
  readonly asSmall: number
}

const draws = 10_000
const largestUnit = 240
const mostSteps = 4e6

/**
 * The permutation test of paired differences. With differences of -1, 0 and 1 it is the exact test of McNemar on the discordant pairs.
 * Exact as long as all differences are multiples of a common unit and the table is small, or there are at most 13; else 10,000 draws from the seed.
 */
export function signFlips(differences: readonly number[], seed = 1): SignFlips {
  const changed = differences.filter((difference) => difference !== 0)
  if (changed.length === 0) return { asLarge: 1, asSmall: 1 }
  const unit = commonUnit(changed)
  const sizes = unit === null ? [] : changed.map((difference) => Math.round(Math.abs(difference) * unit))
  const range = sizes.reduce((sum, size) => sum + size, 0)
  return unit !== null && range * changed.length <= mostSteps
    ? exact(sizes, Math.round(sum(changed) * unit), range)
    : drawn(changed, seed)
}

/** The smallest number that makes all of them whole. */
function commonUnit(values: readonly number[]): number | null {
  for (let unit = 1; unit <= largestUnit; unit += 1)
    if (values.every((value) => Math.abs(value * unit - Math.round(value * unit)) < 1e-9)) return unit
  return null
}

/** Builds the distribution of the sum, one difference at a time. */
function exact(sizes: readonly number[], observed: number, range: number): SignFlips {
  let chances = new Float64Array(2 * range + 1)
  chances[range] = 1
  let reach = 0
  for (const size of sizes) {
    const next = new Float64Array(2 * range + 1)
    for (let at = range - reach; at <= range + reach; at += 1) {
      const half = (chances[at] ?? 0) / 2
      if (half === 0) continue
      next[at - size] = (next[at - size] ?? 0) + half
      next[at + size] = (next[at + size] ?? 0) + half
    }
    reach += size
    chances = next
  }
  const at = range + observed
  return { asLarge: sum(chances.subarray(at)), asSmall: sum(chances.subarray(0, at + 1)) }
}

/** All combinations of signs, if there are fewer than draws. */
function drawn(differences: readonly number[], seed: number): SignFlips {
  const random = seededRandom(seed)
  const sizes = Float64Array.from(differences, Math.abs)
  const observed = sum(differences)
  const tolerance = 1e-9 * sum(sizes)
  const isAll = 2 ** sizes.length <= draws
  const rounds = isAll ? 2 ** sizes.length : draws
  // The differences as they are count as one draw, so no chance is ever 0.
  let [large, small] = isAll ? [0, 0] : [1, 1]
  for (let round = 0; round < rounds; round += 1) {
    let total = 0
    let bits = 0
    for (let index = 0; index < sizes.length; index += 1) {
      if (index % 32 === 0) bits = isAll ? round : random() * 2 ** 32
      total += (bits >>> (index % 32)) & 1 ? (sizes[index] ?? 0) : -(sizes[index] ?? 0)
    }
    if (total >= observed - tolerance) large += 1
    if (total <= observed + tolerance) small += 1
  }
  const all = isAll ? rounds : rounds + 1
  return { asLarge: large / all, asSmall: small / all }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
