import { seededRandom } from '../random.ts'
import { sum } from '../sum.ts'
import type { CasePair } from './exact-rate.ts'
import type { SignFlips } from './sign-flips.ts'

const draws = 10_000

/** Fisher's exact test of two shares, the smaller tail doubled. */
export function fisherTest(pair: CasePair): number {
  const { least, chances } = shared(pair)
  const at = pair.after.passes - least
  const up = sum(chances.slice(at))
  const down = sum(chances.slice(0, at + 1))
  return Math.min(1, 2 * Math.min(up, down))
}

/**
 * Chances of a mean difference as large, and of one as small, if the trials of each case were dealt to both sides at random. Drawn from the
 * seed. It holds for any number of trials, unlike the change of signs: 1 trial differs from the mean of 20 mostly in one direction.
 */
export function trialSwaps(pairs: readonly CasePair[], seed = 1): SignFlips {
  const random = seededRandom(seed)
  const cases = pairs.map((pair) => {
    const { least, chances, sizes } = shared(pair)
    let total = 0
    const upTo = Float64Array.from(chances, (chance) => (total += chance))
    // One pass more of the second side is one less of the first.
    return { upTo, least, step: 1 / sizes[0] + 1 / sizes[1], observed: Math.round(pair.after.passes) }
  })
  const observed = sum(cases.map((each) => each.step * each.observed))
  const tolerance = 1e-9 * (1 + Math.abs(observed))
  let [large, small] = [1, 1]
  for (let draw = 0; draw < draws; draw += 1) {
    let drawn = 0
    for (const { upTo, least, step } of cases) drawn += step * (least + placeOf(random(), upTo))
    if (drawn >= observed - tolerance) large += 1
    if (drawn <= observed + tolerance) small += 1
  }
  return { asLarge: large / (draws + 1), asSmall: small / (draws + 1) }
}

/** The first place whose value is not below `wanted`. */
function placeOf(wanted: number, values: Float64Array): number {
  let [low, high] = [0, values.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 1) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Chances of each number of passes of the second side, from `least` on, given the passes of both. */
function shared({ before, after }: CasePair) {
  const sizes = [Math.round(before.n), Math.round(after.n)] as const
  const passes = Math.round(before.passes) + Math.round(after.passes)
  const [least, most] = [Math.max(0, passes - sizes[0]), Math.min(sizes[1], passes)]
  const logs = logFactorials(sizes[0] + sizes[1])
  const log = (n: number): number => logs[n] ?? 0
  const choose = (n: number, k: number): number => log(n) - log(k) - log(n - k)
  const chances = Array.from({ length: most - least + 1 }, (_, at) =>
    Math.exp(
      choose(sizes[1], least + at) +
        choose(sizes[0], passes - least - at) -
        choose(sizes[0] + sizes[1], passes),
    ),
  )
  return { least, chances, sizes }
}

function logFactorials(n: number): readonly number[] {
  const logs = [0]
  for (let k = 1; k <= n; k += 1) logs.push((logs.at(-1) ?? 0) + Math.log(k))
  return logs
}
