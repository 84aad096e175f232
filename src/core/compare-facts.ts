import { type AmountName, amountNames, type CaseFacts, type GateFacts, withoutCopies } from './case-facts.ts'
import { settled } from './case-tally.ts'
import type { ComparedCase, Comparison, LeftOutCase } from './comparison.ts'
import { counted } from './counted.ts'
import { GantryError } from './error.ts'
import { nearest } from './nearest.ts'
import { findRegressions, isChanged } from './regression.ts'
import {
  type CaseDifference,
  compareCases,
  holm,
  neededTrials,
  type Ratio,
  ratioOf,
  verdictOf,
  withAdjustedP,
} from './stats/compare-cases.ts'
import { decideEarly, neededRounds, type PairCounts } from './stats/decide-early.ts'
import { type CaseCount, type CasePair, effectiveTrials } from './stats/exact-rate.ts'
import { fisherTest } from './stats/trial-swaps.ts'
import { sum } from './sum.ts'

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
  /** Its trials were graded again: all are copies, and none is from the cache. */
  readonly isRegraded?: boolean
}

/** A whole run or baseline under the name that the user gave it, or one agent, arm or model of it. Throws GantryError when it has none such. */
export function sideNamed(name: string, whole: Omit<ComparedSide, 'name'>, part: string): ComparedSide {
  if (part === '') return { name, ...whole }
  return {
    name,
    ...whole,
    facts: factsNamed(whole.facts, part, name.slice(0, -part.length - 1)),
    isChosen: true,
  }
}

function factsNamed(facts: readonly CaseFacts[], name: string, owner: string): readonly CaseFacts[] {
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

/** Each further side against the first: what the command, the page and its exported copy show. Throws GantryError. */
export function compareWithFirst(sides: readonly ComparedSide[], options: CompareOptions) {
  const [before, ...others] = sides
  const [only] = others
  if (before === undefined || only === undefined) throw new GantryError('USAGE', 'name two runs')
  const known = new Set(before.runId === only.runId ? before.facts.map(groupOf) : [])
  if (others.length === 1 && only.facts.some((facts) => known.has(groupOf(facts))))
    throw new GantryError('USAGE', `${before.name} and ${only.name} name the same results`, {
      hint: 'Name two runs, or two agents, arms or models of one: RUN:NAME.',
    })
  const comparisons = compareMany(others.map((after) => ({ before, after, options })))
  if (comparisons.length === 1) comparisons.forEach(refuseNothing)
  return {
    comparisons,
    sides: sides.map(({ name, runId, facts }) => ({
      name,
      runId,
      agents: [...new Set(facts.map(({ agent }) => agent))],
      models: [...new Set(facts.map(({ model }) => model))],
    })),
  }
}

export function refuseNothing(comparison: Comparison): void {
  const { pairs, before, after, left_out } = comparison
  if (pairs > 0) return
  const reasons = [...new Set(left_out.map(({ reason }) => reason))]
  throw new GantryError(
    'USAGE',
    `${before.name} and ${after.name} have nothing that can be compared: ${reasons.join('; ')}`,
    { hint: hintForNothing(comparison) },
  )
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
    doubts: doubtsOf(open),
    regressions: findRegressions(
      pairs.map(({ before: then, after: now }) => ({ ...then, agent: now.agent, model: now.model })),
      pairs.map(({ after: now }) => now),
    ),
  }
}

function doubtsOf({ before, after, pairs, options }: ReturnType<typeof openComparison>): readonly string[] {
  const cached = sum(pairs.map((pair) => pair.after.copies?.length ?? 0))
  return [
    ...[before, after].flatMap(({ name, doubt }) => (doubt === undefined ? [] : `${name} ${doubt}`)),
    ...(['before', 'after'] as const)
      .filter((side) => pairs.some((pair) => pair[side].caseHash === null))
      .map(
        (side) =>
          `${{ before, after }[side].name} was made by an older version that kept no hash of its cases: whether the cases changed is unknown`,
      ),
    // Comparisons after every round allow for any number of looks.
    ...(cached === 0 || after.isRegraded === true || options.sequential !== undefined
      ? []
      : [
          `${counted(cached, 'trial')} of ${after.name} came from the cache of an earlier run, so these results were seen before. Looking again at the same trials finds differences that are not there more often: --until-decided allows for it, and --no-cache makes new trials`,
        ]),
  ]
}

function differenceOf(
  byCase: readonly CasePair[],
  { seed, margin, sequential }: CompareOptions,
): CaseDifference {
  if (sequential === undefined || byCase.length === 0) return compareCases(byCase, seed, margin)
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
  const [groupsBefore, groupsAfter] = [before, after].map(
    ({ facts }) => new Map(facts.map((each) => [groupOf(each), each])),
  )
  const pairs: Paired[] = []
  const leftOut: LeftOutCase[] = []
  const leave = ({ case: name, agent, model }: CaseFacts, reason: string): void => {
    leftOut.push({ case: name, agent, model, reason })
  }
  for (const each of after.facts) {
    const key = keyOf(each, false)
    const found = then.get(key)
    then.delete(key)
    const now = withoutShared(each, before.runId, groupsBefore?.get(groupOf(each)))
    const earlier = found && withoutShared(found, after.runId, groupsAfter?.get(groupOf(found)))
    const copies = Math.max(each.trials - now.trials, (found?.trials ?? 0) - (earlier?.trials ?? 0))
    if (earlier === undefined) leave(now, `only in ${after.name}`)
    else if (isChanged(earlier, now)) leave(now, changedBetween)
    else if (earlier.trials === 0 || now.trials === 0)
      leave(
        now,
        copies > 0 ? sameTrials : `${noneCounted} in ${earlier.trials === 0 ? before.name : after.name}`,
      )
    else {
      pairs.push({ key, before: earlier, after: now })
      if (copies > 0) leave(now, `${counted(copies, 'trial')} of both sides; its other trials are compared`)
      const [in1, in2] = [earlier.uncounted, now.uncounted]
      if (in1 + in2 > 0)
        leave(now, `infra or invalid trials, ${in1} of A and ${in2} of B; its other trials are compared`)
    }
  }
  for (const facts of then.values()) leave(facts, `only in ${before.name}`)
  return { pairs, leftOut }
}

/** A trial that both sides have says nothing about their difference. */
function withoutShared(facts: CaseFacts, otherRun: string, other: CaseFacts | undefined): CaseFacts {
  return withoutCopies(facts, ({ run, attempt }) =>
    run === otherRun
      ? other !== undefined
      : other?.copies?.some((copy) => copy.run === run && copy.attempt === attempt) === true,
  )
}

function groupOf({ case: name, agent, model }: CaseFacts): string {
  return JSON.stringify([name, agent, model])
}

export const changedBetween = 'the scenario, its template, its graders or its judge changed in between'
/** The end of a doubt about a run that a limit stopped. */
export const notRunDoubt = 'of this run did not run'
const noneCounted = 'no counted trial'
const sameTrials = 'both sides have the same trials, from the cache or graded again'

/** The second side of `gantry test --against`. */
export const thisRun = 'this run'

/** What to do when nothing can be compared. */
export function hintForNothing({ before, after, left_out, doubts }: Comparison): string {
  if (doubts.some((doubt) => doubt.endsWith(notRunDoubt)))
    return `Go on with a higher limit: gantry test --resume ${after.run_id}.`
  const has = (text: string): boolean => left_out.some(({ reason }) => reason.startsWith(text))
  if (has(sameTrials)) return 'Make new trials: gantry test --no-cache.'
  if (has(changedBetween))
    return 'Run both sides with the scenarios as they are now, or grade the earlier work by them: gantry runs regrade RUN.'
  if (has(noneCounted)) return 'Fix what made its trials infra or invalid, and run them again.'
  const only = ({ name }: { readonly name: string }) =>
    left_out.filter(({ reason }) => reason === `only in ${name}`)
  const others = only(after)
  const twins = only(before).filter((one) => others.some((other) => other.case === one.case))
  const [twin] = twins
  if (twin === undefined) return 'They have no case in common: name runs of the same scenarios.'
  const ofAgent = twins.find((one) => others.some(({ agent }) => agent === one.agent))
  const side = before.name.replace(/:[^/\\]*$/, '')
  if (after.name === thisRun)
    return `Run one agent and model, and name what it is compared with: --against ${side}:${ofAgent?.model ?? twin.agent}.`
  return ofAgent === undefined
    ? 'Agents of other names are paired with --map OLD=NEW, or by naming one of each: RUN:NAME.'
    : 'Only the models differ: name one of each side, RUN:MODEL.'
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
      const [one, other] = examplesOf(before, after)
      return {
        case: after.case,
        agent: after.agent,
        model: after.model,
        before: { passes: before.passes, trials: before.trials, trial: one },
        after: { passes: after.passes, trials: after.trials, trial: other },
        p: settled(ps[index] ?? 1),
        gate: differingGate(before, after),
      }
    })
    .sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
}

/** Trials that show the change: of one attempt if there are such. */
function examplesOf(
  before: CaseFacts,
  after: CaseFacts,
): readonly [before: string | null, after: string | null] {
  const isWorse = after.passes / after.trials < before.passes / before.trials
  const [then, now] = [before.examples ?? [], after.examples ?? []]
  const [wanted, others] = [
    then.filter(({ passed }) => passed === isWorse),
    now.filter(({ passed }) => passed !== isWorse),
  ]
  for (const one of wanted) {
    const other = others.find(({ attempt }) => attempt === one.attempt)
    if (other !== undefined) return [one.dir, other.dir]
  }
  return [(wanted[0] ?? then[0])?.dir ?? null, (others[0] ?? now[0])?.dir ?? null]
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
