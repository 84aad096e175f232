import { type AmountName, amountNames, type CaseFacts, type GateFacts } from './case-facts.ts'
import { settled } from './case-tally.ts'
import type { ComparedCase, ComparedResult, Comparison, LeftOutCase } from './comparison.ts'
import { GantryError } from './error.ts'
import { nearest } from './nearest.ts'
import { findRegressions } from './regression.ts'
import {
  type CaseDifference,
  type CasePair,
  compareCases,
  fisherTest,
  holm,
  neededTrials,
  type Ratio,
  ratioOf,
  verdictOf,
  withAdjustedP,
} from './stats/compare-cases.ts'
import { decideEarly, neededRounds, type PairCounts } from './stats/decide-early.ts'
import { type CaseCount, effectiveTrials } from './stats/exact-rate.ts'

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

/** Those of one agent, arm or model. Throws GantryError when there is none. */
export function factsNamed(facts: readonly CaseFacts[], name: string, owner: string): readonly CaseFacts[] {
  const found = facts.filter(
    ({ agent, model }) => agent === name || model === name || `${agent}/${model}` === name,
  )
  if (found.length > 0) return found
  const names = [...new Set(facts.flatMap(({ agent, model }) => [agent, model]))].filter(
    (each) => each !== 'default',
  )
  const close = nearest(name, names)
  throw new GantryError('NOT_FOUND', `${owner} has no agent or model ${JSON.stringify(name)}`, {
    hint: close === undefined ? `It has: ${names.join(', ')}.` : `Did you mean ${close}?`,
  })
}

export interface CompareOptions {
  /** Differences up to this are irrelevant. */
  readonly margin: number
  readonly seed: number
  /** Agents that have another name on the second side. */
  readonly renamed?: ReadonlyMap<string, string>
  /** For sides that were compared after every round and stopped when they were decided. */
  readonly sequential?: SequentialPairs
}

/** Pairs of trials of two arms: same case, same attempt. */
export interface SequentialPairs {
  readonly counts: PairCounts
  readonly rounds: number
  /** The error that is allowed, of all looks together. */
  readonly level: number
}

interface Paired {
  readonly key: string
  readonly before: CaseFacts
  readonly after: CaseFacts
}

export function compareFacts(before: ComparedSide, after: ComparedSide, options: CompareOptions): Comparison {
  return finishComparison(openComparison(before, after, options), null)
}

/**
 * Comparisons of several sides with one: p by Holm, and an interval contains 0 when that p is above .05. Comparisons after every round share
 * the error already.
 */
export function compareMany(
  comparisons: readonly {
    readonly before: ComparedSide
    readonly after: ComparedSide
    readonly options: CompareOptions
  }[],
): readonly Comparison[] {
  const open = comparisons.map(({ before, after, options }) => openComparison(before, after, options))
  const ps = holm(open.map(({ difference }) => difference.p))
  return open.map((each, index) =>
    finishComparison(each, each.options.sequential === undefined ? (ps[index] ?? 1) : null),
  )
}

function openComparison(before: ComparedSide, after: ComparedSide, options: CompareOptions) {
  const { pairs, leftOut } = pairUp(before, after, options)
  const byCase = [...Map.groupBy(pairs, (pair) => pair.after.case).values()].map(poolAgents)
  return { before, after, options, pairs, leftOut, byCase, difference: differenceOf(byCase, options) }
}

function finishComparison(open: ReturnType<typeof openComparison>, adjustedP: number | null): Comparison {
  const { before, after, options, pairs, leftOut, byCase } = open
  const { margin, seed, sequential } = options
  const difference = adjustedP === null ? open.difference : withAdjustedP(open.difference, adjustedP)
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
    rounds: sequential?.rounds ?? null,
    margin,
    needed_trials_per_case:
      verdict !== 'inconclusive'
        ? null
        : sequential === undefined
          ? neededTrials(byCase, margin)
          : neededRounds(sequential, margin),
    preference: null,
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

function differenceOf(
  byCase: readonly CasePair[],
  { seed, margin, sequential }: CompareOptions,
): CaseDifference {
  if (sequential === undefined || byCase.length === 0) return compareCases(byCase, seed)
  const { wins, losses, ties } = sequential.counts
  const { low, high, p } = decideEarly(sequential.counts, margin, sequential.level)
  const value = (wins - losses) / Math.max(1, wins + losses + ties)
  return { value, low, high, p: Math.min(1, (p * 0.05) / sequential.level), unit: 'trials' }
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
      leave(now, `infra or invalid trials, ${in1} of A and ${in2} of B; its other trials are compared`)
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
