// How often the intervals and verdicts of reports are right, measured on made-up runs whose truth is known.
//   npm run simulate [-- --rounds N] [--write]     `--write` puts the tables into docs/statistics.md
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../src/core/random.ts'
import { compareCases, detectableDifference, ratioOf, verdictOf } from '../src/core/stats/compare-cases.ts'
import { decideEarly } from '../src/core/stats/decide-early.ts'
import {
  type CaseCount,
  type CasePair,
  casesToGeneralize,
  rateForCasesLikeThese,
  rateOnTheseCases,
} from '../src/core/stats/exact-rate.ts'

/** How the difficulty of cases varies around the mean rate: not at all, evenly, or cases that nearly always pass or fail. */
type Skew = 'equal' | 'even' | 'extreme'

export interface Design {
  readonly rate: number
  readonly cases: number
  readonly trials: number
  readonly skew: Skew
  /** Some cases have fewer trials, as after a budget stop. */
  readonly uneven?: boolean
  /** The second side has another number of trials, as a run that is compared with a long one. */
  readonly after?: number
}

const margin = 0.05

export const designs: readonly Design[] = [0.02, 0.1, 0.5, 0.9, 0.98].flatMap((rate) =>
  [1, 3, 8, 20, 60, 200].flatMap((cases) =>
    [1, 3, 10, 20].flatMap((trials) =>
      (cases === 1 ? (['equal'] as const) : (['equal', 'even', 'extreme'] as const)).map((skew) => ({
        rate,
        cases,
        trials,
        skew,
      })),
    ),
  ),
)

/** A long run against a short one. */
const unequalDesigns: readonly Design[] = [0.05, 0.5, 0.9, 0.95].flatMap((rate) =>
  [3, 6, 10, 20].flatMap((cases) =>
    [
      { trials: 40, after: 1 },
      { trials: 20, after: 2 },
      { trials: 5, after: 1 },
      { trials: 20, after: 5 },
    ].map((sides) => ({ rate, cases, skew: 'equal' as const, ...sides })),
  ),
)

type Random = () => number

function difficulty({ rate, skew }: Design, random: Random): number {
  if (skew === 'equal') return rate
  if (skew === 'extreme') return random() < rate ? 0.99 : 0.01
  const reach = Math.min(rate, 1 - rate)
  return rate + (2 * random() - 1) * reach
}

function countOf(chance: number, { trials, uneven }: Design, random: Random): CaseCount {
  const n = uneven === true ? 1 + Math.floor(random() * trials) : trials
  let passes = 0
  for (let trial = 0; trial < n; trial += 1) if (random() < chance) passes += 1
  return { passes, n }
}

/** The mean of `difficulty` over all cases there could be. */
function meanRate({ rate, skew }: Design): number {
  return skew === 'extreme' ? rate * 0.99 + (1 - rate) * 0.01 : rate
}

/** The share of intervals that contain the truth: of the rate on these cases, and of the rate for cases like these. */
export function coverage(
  design: Design,
  rounds: number,
): { readonly these: number; readonly like: number | null } {
  const random = seededRandom(11)
  let [these, like] = [0, 0]
  for (let round = 0; round < rounds; round += 1) {
    const chances = Array.from({ length: design.cases }, () => difficulty(design, random))
    const counts = chances.map((chance) => countOf(chance, design, random))
    const truth = chances.reduce((sum, chance) => sum + chance, 0) / chances.length
    if (contains(rateOnTheseCases(counts), truth)) these += 1
    const wide = rateForCasesLikeThese(counts)
    if (wide !== null && contains(wide, meanRate(design))) like += 1
  }
  return { these: these / rounds, like: design.cases < casesToGeneralize ? null : like / rounds }
}

function contains({ low, high }: { readonly low: number; readonly high: number }, truth: number): boolean {
  return low - 1e-9 <= truth && truth <= high + 1e-9
}

interface DrawnPairs {
  readonly pairs: readonly CasePair[]
  readonly chances: readonly (readonly [before: number, after: number])[]
}

/**
 * Both sides of every case; `shift` is the true mean difference. Without one, cases differ in both directions all the same. With
 * `balanced` these differences add up to exactly nothing, otherwise only over all cases there could be.
 */
function drawPairs(
  design: Design,
  shift: number,
  { random, balanced }: { readonly random: Random; readonly balanced: boolean },
): DrawnPairs {
  const chances: (readonly [number, number])[] = []
  while (chances.length < design.cases) {
    const before = difficulty(design, random)
    const last = chances.length % 2 === 1 ? chances.at(-1) : undefined
    if (shift !== 0)
      chances.push([
        before * (1 - Math.abs(shift)) + Math.max(-shift, 0),
        before * (1 - Math.abs(shift)) + Math.max(shift, 0),
      ])
    else if (!balanced) chances.push([before, difficulty(design, random)])
    else if (last !== undefined) chances.push([last[1], last[0]])
    else chances.push([before, chances.length + 1 < design.cases ? difficulty(design, random) : before])
  }
  const side = (chance: number, trials: number): CaseCount => countOf(chance, { ...design, trials }, random)
  const { trials, after: fewer = trials } = design
  const pairs = chances.map(([before, after]) => ({
    before: side(before, trials),
    after: side(after, fewer),
  }))
  return { pairs, chances }
}

export interface Verdicts {
  readonly better: number
  readonly worse: number
  readonly same: number
  readonly covered: number
}

/** The shares of the verdicts of a comparison, and of its intervals that contain the true difference. */
export function verdicts(design: Design, shift: number, rounds: number, seed = 12): Verdicts {
  const random = seededRandom(seed)
  const found = { better: 0, worse: 0, same: 0, inconclusive: 0 }
  let covered = 0
  for (let round = 0; round < rounds; round += 1) {
    // With few cases the answer is about these cases only.
    const { pairs, chances } = drawPairs(design, shift, { random, balanced: design.cases < 6 })
    const difference = compareCases(pairs, round, margin)
    found[verdictOf(difference, margin)] += 1
    const ofThese = chances.reduce((sum, [before, after]) => sum + after - before, 0) / chances.length
    if (contains(difference, difference.unit === 'trials' ? ofThese : shift)) covered += 1
  }
  const share = (count: number): number => count / rounds
  return {
    better: share(found.better),
    worse: share(found.worse),
    same: share(found.same),
    covered: share(covered),
  }
}

/** The difference that a plan of this design promises to find in 80 of 100 comparisons. */
export function plannedDifference(design: Design): number {
  const random = seededRandom(15)
  const chances = Array.from({ length: 2_000 }, () => difficulty(design, random))
  const varianceOf = (chance: number): number => chance * (1 - chance)
  return detectableDifference(design.cases, design.trials, (shift) => {
    const both = chances
      .map((chance) => chance * (1 - shift))
      .map((c) => varianceOf(c) + varianceOf(c + shift))
    return both.reduce((sum, each) => sum + each, 0) / both.length / design.trials
  })
}

export interface Sequential {
  readonly better: number
  readonly worse: number
  readonly same: number
  /** Mean number of pairs until the end. */
  readonly pairs: number
}

/** Rounds of one pair per case, with a look after every round. */
export function untilDecided(design: Design, shift: number, maxRepeat: number, rounds: number): Sequential {
  const random = seededRandom(13)
  const found = { better: 0, worse: 0, same: 0, inconclusive: 0 }
  let used = 0
  for (let round = 0; round < rounds; round += 1) {
    const { chances } = drawPairs({ ...design, trials: 1 }, shift, { random, balanced: true })
    const counts = { wins: 0, losses: 0, ties: 0 }
    let verdict: keyof typeof found = 'inconclusive'
    for (let repeat = 0; repeat < maxRepeat && verdict === 'inconclusive'; repeat += 1) {
      for (const [before, after] of chances) {
        const [was, is] = [random() < before, random() < after]
        counts[was === is ? 'ties' : is ? 'wins' : 'losses'] += 1
      }
      verdict = decideEarly(counts, margin).verdict
    }
    found[verdict] += 1
    used += counts.wins + counts.losses + counts.ties
  }
  const share = (count: number): number => count / rounds
  return {
    better: share(found.better),
    worse: share(found.worse),
    same: share(found.same),
    pairs: used / rounds,
  }
}

/**
 * Pairs of the smallest fixed design that finds `shift` as often as `power` says, at most in 99%: beyond it a single unlucky round decides
 * about the size.
 */
function fixedPairs(design: Design, shift: number, power: number, rounds: number): number {
  for (let trials = 1; trials < 30; trials += 1)
    if (verdicts({ ...design, trials }, shift, rounds).better >= Math.min(0.99, power))
      return trials * design.cases
  return 30 * design.cases
}

/**
 * The share of intervals of a ratio of amounts, such as costs, that contain the truth. The amounts of cases are lognormal: with a spread
 * of 0.5 the largest of 20 is about 6 times the smallest, with 1.2 about 80 times. `noise` is that of the trials of each side.
 */
export function ratioCoverage(
  {
    cases,
    spread,
    noise,
  }: { readonly cases: number; readonly spread: number; readonly noise: readonly [number, number] },
  rounds: number,
): number {
  const random = seededRandom(14)
  const truth = 1.3
  const vary = (sd: number): number =>
    Math.exp(sd * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()) - sd ** 2 / 2)
  let covered = 0
  for (let round = 0; round < rounds; round += 1) {
    const sizes = Array.from({ length: cases }, () => vary(spread))
    const pairs = sizes.map((size) => ({
      before: size * vary(noise[0]),
      after: truth * size * vary(noise[1]),
    }))
    const found = ratioOf(pairs, round)
    if (found !== null && contains({ low: found.low ?? 0, high: found.high ?? Infinity }, truth)) covered += 1
  }
  return covered / rounds
}

function ratioLines(rounds: number): string[] {
  const skews = [
    { spread: 0.5, noise: [0.5, 0.5] as const },
    { spread: 1.2, noise: [0.5, 0.5] as const },
    { spread: 1.2, noise: [0.1, 1.2] as const },
  ]
  return [
    `The 95% interval of a ratio of amounts (cost, tokens, time) contains the truth, each ${rounds} times. "80 times" is the largest of 20 cases against the smallest; in the last column the trials of B vary 80 times around the case, and those of A hardly:`,
    '',
    '| cases | cases differ 6 times | cases differ 80 times | the trials of B only, too |',
    '|---|---|---|---|',
    ...[6, 20, 60, 200].map((cases) => {
      const shares = skews.map((skew) => percent(ratioCoverage({ cases, ...skew }, rounds)))
      return `| ${cases} | ${shares.join(' | ')} |`
    }),
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`
}

function tables(rounds: number): string {
  const least = (values: readonly (number | null)[]): string =>
    percent(Math.min(...values.flatMap((value) => value ?? [])))
  const most = (values: readonly number[]): string => percent(Math.max(...values))
  const uneven = designs.filter(({ cases, trials }) => cases > 1 && trials === 20)
  const rates = [...designs, ...uneven.map((design) => ({ ...design, uneven: true }))].map((design) =>
    coverage(design, 5 * rounds),
  )
  const compared = designs.filter(
    ({ rate, cases, trials }) => [0.1, 0.5, 0.98].includes(rate) && cases <= 60 && trials !== 20,
  )
  // The worst of so many designs is mostly unlucky: what is out of bounds is made up again, often and with other numbers.
  const ofNothing = (design: Design): Verdicts => {
    const first = verdicts(design, 0, rounds)
    return claimed(first) <= 0.05 && first.covered >= 0.94 ? first : verdicts(design, 0, 20 * rounds, 16)
  }
  const none = compared.map(ofNothing)
  const lopsided = unequalDesigns.map(ofNothing)
  const some = compared
    .filter(({ rate, trials }) => rate === 0.5 && trials > 1)
    .map((design) => verdicts(design, 0.2, rounds))
  // So many pairs that `same` could be said.
  const large = [1, 3, 200].flatMap((cases) =>
    [0.1, 0.5, 0.95].map((rate) => ({
      rate,
      cases,
      trials: cases === 200 ? 10 : 1_000,
      skew: 'equal' as const,
    })),
  )
  const atMargin = large.map((design) => verdicts(design, margin, Math.ceil(rounds / 2)))
  const looked = compared.filter(({ cases, trials }) => cases >= 3 && trials === 3)
  const early = looked.map((design) => untilDecided(design, 0, 20, rounds))
  const planned = [3, 8, 20, 60].flatMap((cases) =>
    (cases === 3 ? [10, 20] : [3, 10]).map((trials) => ({ cases, trials })),
  )
  const kinds = [
    { rate: 0.5, skew: 'equal' },
    { rate: 0.85, skew: 'equal' },
    { rate: 0.5, skew: 'even' },
  ] as const
  const lines = [
    `Each design of the grid ${rounds} times (rates ${5 * rounds} times), so the worst of many designs is lower or higher by chance, too. A comparison without a difference that is out of bounds is made up again ${20 * rounds} times.`,
    '',
    '| what | worst of the grid | mean of the grid | wanted |',
    '|---|---|---|---|',
    line(
      '95% interval of the rate on these cases contains the truth',
      least(rates.map(({ these }) => these)),
      rates.map(({ these }) => these),
      'at least 94%',
    ),
    line(
      '95% interval of the rate for cases like these contains the truth',
      least(rates.map(({ like }) => like)),
      rates.flatMap(({ like }) => like ?? []),
      'at least 94%',
    ),
    line(
      '95% interval of the difference contains the truth: no difference',
      least(none.map(({ covered }) => covered)),
      none.map(({ covered }) => covered),
      'at least 94%',
    ),
    line(
      'the same: 20 points',
      least(some.map(({ covered }) => covered)),
      some.map(({ covered }) => covered),
      'at least 94%',
    ),
    line(
      'better or worse is said though nothing changed',
      most(none.map(claimed)),
      none.map(claimed),
      'at most 5%',
    ),
    line(
      'the same, with 1 to 5 trials per case against 5 to 40',
      most(lopsided.map(claimed)),
      lopsided.map(claimed),
      'at most 5%',
    ),
    line('the same, looking after every round', most(early.map(claimed)), early.map(claimed), 'at most 5%'),
    line(
      'same is said though the difference is the margin',
      most(atMargin.map(({ same }) => same)),
      atMargin.map(({ same }) => same),
      'at most 5%',
    ),
    '',
    'The difference that a plan should find in 80% of comparisons, and how often it is found:',
    '',
    '| cases | trials per case | rate 50% | found in | rate 85% | found in | 50%, cases of even spread | found in |',
    '|---|---|---|---|---|---|---|---|',
    ...planned.map((plan) => {
      const found = kinds.map((kind) => {
        const design = { ...plan, ...kind }
        const shift = plannedDifference(design)
        return `${percent(shift)} | ${percent(verdicts(design, shift, rounds).better)}`
      })
      return `| ${plan.cases} | ${plan.trials} | ${found.join(' | ')} |`
    }),
    '',
    'Rounds of one pair per case, 20 cases, at most 20 rounds, against the smallest fixed number of rounds that finds the difference as often, or in 99%:',
    '',
    '| true difference | better | worse | same | pairs used of 400 | pairs of the fixed design | saved |',
    '|---|---|---|---|---|---|---|',
    ...[0, 0.1, 0.2].map((shift) => {
      const design = { rate: 0.6, cases: 20, trials: 1, skew: 'even' as const }
      const { better, worse, same, pairs } = untilDecided(design, shift, 20, rounds)
      const fixed = shift === 0 ? null : fixedPairs(design, shift, better, rounds)
      const saved = fixed === null ? '' : percent(1 - pairs / fixed)
      return `| ${shift * 100} points | ${percent(better)} | ${percent(worse)} | ${percent(same)} | ${pairs.toFixed(0)} | ${fixed ?? ''} | ${saved} |`
    }),
    '',
    ...ratioLines(2 * rounds),
  ]
  return lines.join('\n')
}

function line(what: string, worst: string, all: readonly number[], wanted: string): string {
  return `| ${what} | ${worst} | ${percent(all.reduce((sum, each) => sum + each, 0) / all.length)} | ${wanted} |`
}

function claimed({ better, worse }: Pick<Verdicts, 'better' | 'worse'>): number {
  return better + worse
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '400' }, write: { type: 'boolean' } },
  })
  const text = tables(Number(values.rounds))
  console.log(text)
  if (values.write === true) {
    const page = join(import.meta.dirname, '../docs/statistics.md')
    const [before = '', after = ''] = readFileSync(page, 'utf8').split(/<!-- tables -->[\s\S]*<!-- end -->/)
    writeFileSync(page, `${before}<!-- tables -->\n${text}\n<!-- end -->${after}`)
  }
}
