import { type AmountName, amountNames, type CaseFacts, type GateFacts } from './case-facts.ts'
import { settled } from './case-tally.ts'
import { findRegressions } from './regression.ts'
import {
  type CaseDifference,
  type CasePair,
  type ComparisonVerdict,
  compareCases,
  fisherTest,
  holm,
  neededTrials,
  type Ratio,
  ratioOf,
  verdictOf,
} from './stats/compare-cases.ts'
import { type CaseCount, effectiveTrials } from './stats/exact-rate.ts'
import type { Regression } from './summary.ts'

/** One side of a comparison: the results of a run, of one agent in it, or of a baseline file. */
export interface ComparedSide {
  /** As the user named it. */
  readonly name: string
  readonly runId: string
  readonly facts: readonly CaseFacts[]
  /** The user chose one agent, arm or model: a single agent is compared with that of the other side, whatever its name. */
  readonly isChosen?: boolean
  /** What makes its results less trustworthy, such as `was interrupted`. */
  readonly doubt?: string
}

export interface CompareOptions {
  /** Differences up to this are irrelevant. */
  readonly margin: number
  readonly seed: number
  /** Agents that have another name on the second side. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** The second side against the first. Printed by `gantry compare --json`. */
export interface Comparison {
  readonly schema_version: 1
  readonly before: SideName
  readonly after: SideName
  readonly verdict: ComparisonVerdict
  /** Of the pass rates, with its 95% interval. */
  readonly difference: { readonly value: number | null; readonly low: number; readonly high: number }
  readonly p: number
  /** Cases that both sides have. */
  readonly pairs: number
  /** `trials`: too few cases to say anything about others; the answer is about these. */
  readonly unit: CaseDifference['unit']
  readonly margin: number
  /** More trials per case that would probably decide; null when decided, or when only more cases would. */
  readonly needed_trials_per_case: number | null
  readonly metrics: Readonly<Record<AmountName, Ratio | null>>
  /** Those that changed come first. */
  readonly cases: readonly ComparedCase[]
  readonly left_out: readonly LeftOutCase[]
  readonly regressions: readonly Regression[]
  /** What makes a side less trustworthy. */
  readonly doubts: readonly string[]
}

interface SideName {
  readonly name: string
  readonly run_id: string
}

export interface ComparedCase {
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly before: ComparedResult
  readonly after: ComparedResult
  /** Of Fisher's exact test, adjusted for the number of cases. */
  readonly p: number
  /** The first gate that passed more often on one side: `gate 2 (file_contains): 3/3 in A, 0/3 in B`. */
  readonly gate: string | null
}

export interface ComparedResult {
  readonly passes: number
  readonly trials: number
  /** Directory of a trial that shows the change; null when there is none. */
  readonly trial: string | null
}

export interface LeftOutCase {
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly reason: string
}

interface Paired {
  readonly key: string
  readonly before: CaseFacts
  readonly after: CaseFacts
}

export function compareFacts(before: ComparedSide, after: ComparedSide, options: CompareOptions): Comparison {
  const { margin, seed } = options
  const { pairs, leftOut } = pairUp(before, after, options)
  const byCase = [...Map.groupBy(pairs, (pair) => pair.after.case).values()].map(poolAgents)
  const difference = compareCases(byCase, seed)
  const verdict = difference.value === null ? 'inconclusive' : verdictOf(difference, margin)
  return {
    schema_version: 1,
    before: { name: before.name, run_id: before.runId },
    after: { name: after.name, run_id: after.runId },
    verdict,
    difference: {
      value: difference.value === null ? null : settled(difference.value),
      low: settled(difference.low),
      high: settled(difference.high),
    },
    p: settled(difference.p),
    pairs: byCase.length,
    unit: difference.unit,
    margin,
    needed_trials_per_case: verdict === 'inconclusive' ? neededTrials(byCase, margin) : null,
    metrics: Object.fromEntries(
      amountNames.map((amount) => [amount, amountRatio(amount, pairs, seed)]),
    ) as Comparison['metrics'],
    cases: comparedCases(pairs),
    left_out: leftOut,
    doubts: [before, after].flatMap(({ name, doubt }) => (doubt === undefined ? [] : `${name} ${doubt}`)),
    regressions: findRegressions(
      pairs.map(({ before: then, after: now }) => ({ ...then, agent: now.agent, model: now.model })),
      pairs.map(({ after: now }) => now),
    ),
  }
}

/** A case that several agents ran is still one case: each agent counts the same. */
function poolAgents(pairs: readonly Paired[]): CasePair {
  const pooled = (side: 'before' | 'after'): CaseCount => {
    const rate = pairs.reduce((sum, pair) => sum + pair[side].passes / pair[side].trials, 0) / pairs.length
    const n = effectiveTrials(pairs.map((pair) => ({ passes: pair[side].passes, n: pair[side].trials })))
    return { passes: rate * n, n }
  }
  return { before: pooled('before'), after: pooled('after') }
}

function pairUp(before: ComparedSide, after: ComparedSide, { renamed = new Map() }: CompareOptions) {
  const agentsOf = ({ facts }: ComparedSide): number => new Set(facts.map(({ agent }) => agent)).size
  const isOneToOne =
    (before.isChosen === true || after.isChosen === true) && agentsOf(before) === 1 && agentsOf(after) === 1
  const agentOf = ({ agent }: CaseFacts, isBefore: boolean): string =>
    isOneToOne ? '' : isBefore ? (renamed.get(agent) ?? agent) : agent
  const modelsOf = ({ facts }: ComparedSide, isBefore: boolean) =>
    Map.groupBy(
      new Map(facts.map((each) => [JSON.stringify([agentOf(each, isBefore), each.model]), each])).values(),
      (each) => agentOf(each, isBefore),
    )
  const [modelsBefore, modelsAfter] = [modelsOf(before, true), modelsOf(after, false)]
  // An agent that ran with one model on each side is compared although the model changed.
  const keyOf = (facts: CaseFacts, isBefore: boolean): string => {
    const agent = agentOf(facts, isBefore)
    const isOnly = modelsBefore.get(agent)?.length === 1 && modelsAfter.get(agent)?.length === 1
    return JSON.stringify([facts.case, agent, isOnly ? '' : facts.model])
  }
  const then = new Map(before.facts.map((facts) => [keyOf(facts, true), facts]))
  const pairs: Paired[] = []
  const leftOut: LeftOutCase[] = []
  const leave = ({ case: name, agent, model }: CaseFacts, reason: string): void => {
    leftOut.push({ case: name, agent, model, reason })
  }
  for (const now of after.facts) {
    const key = keyOf(now, false)
    const earlier = then.get(key)
    then.delete(key)
    if (earlier === undefined) leave(now, `only in ${after.name}`)
    else if (earlier.caseHash !== null && now.caseHash !== null && earlier.caseHash !== now.caseHash)
      leave(now, 'the scenario, its template or its graders changed in between')
    else if (earlier.trials === 0 || now.trials === 0)
      leave(now, `no counted trial in ${earlier.trials === 0 ? before.name : after.name}`)
    else pairs.push({ key, before: earlier, after: now })
    const [in1, in2] = [earlier?.uncounted ?? 0, now.uncounted]
    if (in1 + in2 > 0 && earlier !== undefined && earlier.trials > 0 && now.trials > 0)
      leave(now, `only trials that were infra or invalid: ${in1} in A, ${in2} in B`)
  }
  for (const facts of then.values()) leave(facts, `only in ${before.name}`)
  return { pairs, leftOut }
}

/** Every case counts once, whatever the number of its agents. */
function amountRatio(amount: AmountName, pairs: readonly Paired[], seed: number): Ratio | null {
  const measured = pairs.flatMap(({ before, after }) => {
    const [was, is] = [before.means[amount], after.means[amount]]
    return was === null || is === null ? [] : [{ case: after.case, before: was, after: is }]
  })
  const byCase = [...Map.groupBy(measured, (each) => each.case).values()].map((of) => ({
    before: of.reduce((sum, each) => sum + each.before, 0) / of.length,
    after: of.reduce((sum, each) => sum + each.after, 0) / of.length,
  }))
  const found = ratioOf(byCase, seed)
  const round = (value: number | null): number | null => (value === null ? null : settled(value))
  return found === null
    ? null
    : { ratio: settled(found.ratio), low: round(found.low), high: round(found.high) }
}

function comparedCases(pairs: readonly Paired[]): readonly ComparedCase[] {
  const ps = holm(
    pairs.map(({ before, after }) =>
      fisherTest({
        before: { passes: before.passes, n: before.trials },
        after: { passes: after.passes, n: after.trials },
      }),
    ),
  )
  const change = ({ before, after }: ComparedCase): number =>
    after.passes / after.trials - before.passes / before.trials
  return pairs
    .map(({ before, after }, index): ComparedCase => {
      const isWorse = after.passes / after.trials < before.passes / before.trials
      return {
        case: after.case,
        agent: after.agent,
        model: after.model,
        before: resultOf(before, isWorse ? 'passed' : 'failed'),
        after: resultOf(after, isWorse ? 'failed' : 'passed'),
        p: settled(ps[index] ?? 1),
        gate: differingGate(before, after),
      }
    })
    .sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
}

function resultOf({ passes, trials, examples }: CaseFacts, wanted: 'passed' | 'failed'): ComparedResult {
  return { passes, trials, trial: examples?.[wanted] ?? examples?.passed ?? examples?.failed ?? null }
}

function differingGate(before: CaseFacts, after: CaseFacts): string | null {
  const share = ({ passes, trials }: GateFacts): number => passes / trials
  for (const now of after.gates) {
    const then = before.gates.find(({ index, type }) => index === now.index && type === now.type)
    if (then === undefined || share(then) === share(now)) continue
    return `gate ${now.index + 1} (${now.type}): ${then.passes}/${then.trials} in A, ${now.passes}/${now.trials} in B`
  }
  return null
}
