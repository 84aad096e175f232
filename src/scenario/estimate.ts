import { join } from 'node:path'
import { seededRandom } from '../core/random.ts'
import { compareCases, detectableDifference, fewestCases } from '../core/stats/compare-cases.ts'
import type { CaseCount } from '../core/stats/exact-rate.ts'
import { sum } from '../core/sum.ts'
import { isCounted } from '../core/verdict.ts'
import { judgeOutputTokens } from '../judge/judge.ts'
import { maxPairCharacters } from '../judge/prompt.ts'
import { estimateUsd } from '../models/estimate-usd.ts'
import { priceOf } from '../models/price-table.ts'
import { groupOf } from '../report/case-verdict.ts'
import type { Store, TrialRow } from '../store/contract.ts'
import { readManifestState } from '../store/manifest.ts'
import { trialHistory } from '../store/trial-history.ts'
import type { PlannedTrial } from '../trials/contract.ts'
import { openCached } from './cached-trials.ts'
import { judgeCalls } from './judge-batch.ts'
import { pairCalls } from './judged-pairs.ts'
import { openSide } from './open-side.ts'
import { comparedAgents, type ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'

/** What a run would do and cost. */
export type RunEstimate = Awaited<ReturnType<typeof estimateRun>>

/** One case, agent and model. */
export type GroupEstimate = Awaited<ReturnType<typeof estimateGroup>>

/** Reads the cache and the history. Runs nothing and writes nothing. */
export async function estimateRun(prepared: PreparedRun, store: Store) {
  const { request, trials, cases, judge, judgeBatch } = prepared
  const cached = openCached(prepared, store)
  const groups: GroupEstimate[] = []
  const uncached: ScenarioTrial[] = []
  for (const members of Map.groupBy(trials, groupOf).values()) {
    const toRun = members.filter((trial) => cached(trial) === null)
    groups.push(await estimateGroup(members, toRun.length, prepared, store))
    uncached.push(...toRun)
  }
  const calls = judgeCalls(uncached, cases)
  const durationMs = sumKnown(groups.map((group) => group.durationMs))
  return {
    trials: trials.length,
    cases: new Set(trials.map((trial) => trial.case)).size,
    cacheHits: sum(groups.map((group) => group.cacheHits)),
    /** For trials that would run and have a history; null when none has. */
    costUsd: sumKnown(groups.map((group) => group.costUsd)),
    /** The same for the time of the agents, with the run's concurrency. */
    durationMs: durationMs === null ? null : durationMs / request.concurrency,
    /** Trials that would run and have no history. */
    withoutHistory: sum(
      groups.filter((group) => group.durationMs === null).map((group) => group.trials - group.cacheHits),
    ),
    /** Of all prompts; rough: four characters per token. */
    promptTokens: sum(groups.map((group) => group.promptTokens)),
    precision: planPrecision({ cases: cases.size, runs: request.repeat }),
    /** Maximum number of calls, without trials from the cache; null when there is no judge. `batched`: at half the price. */
    judge:
      judge === null
        ? null
        : { model: judge.name, calls, batched: judgeBatch !== null && calls >= judgeBatch.minimum },
    pairs: estimatePairs(prepared),
    groups,
  }
}

/** `open`: how many of them are not in the cache. */
async function estimateGroup(
  members: readonly ScenarioTrial[],
  open: number,
  { cases, request }: PreparedRun,
  store: Store,
) {
  const { case: name = '', agent = '', model = '' } = members[0] ?? {}
  const earlier = (await trialHistory(store, { case: name, agent, model })).filter(
    (row) => row.cached_from === null,
  )
  const meanCostUsd =
    mean(knownCosts(earlier)) ?? (open === 0 ? null : await agentCostUsd({ agent, model }, store))
  const meanDurationMs = mean(earlier.map((row) => row.duration_ms))
  const promptChars = cases.get(name)?.scenario.task.prompt.length ?? 0
  return {
    case: name,
    agent,
    model,
    trials: members.length,
    cacheHits: members.length - open,
    promptTokens: Math.ceil(promptChars / 4) * open,
    costUsd: open === 0 || request.replay === 'strict' ? 0 : meanCostUsd === null ? null : meanCostUsd * open,
    durationMs: open === 0 ? 0 : meanDurationMs === null ? null : meanDurationMs * open,
  }
}

/** Calls of a judge that compares answers, and the most they can cost (null: unknown); null when there is none. */
function estimatePairs(prepared: PreparedRun) {
  const { judge, trials, cases, prices } = prepared
  const [first] = comparedAgents(prepared)
  const later = trials.filter(({ agent }) => agent !== first)
  const calls = sum(later.map((trial) => pairCalls(cases.get(trial.case))))
  if (judge === null || calls === 0) return null
  const text = 'x'.repeat(maxPairCharacters)
  const question = {
    system: undefined,
    messages: [{ role: 'user' as const, text }],
    maxOutputTokens: judgeOutputTokens,
  }
  const each = estimateUsd(question, priceOf(judge.name, prices))
  return { calls, atMostUsd: each === null ? null : each * calls }
}

/** What is known from earlier runs about the cost of a trial. */
export type EarlierCost = Pick<PlannedTrial<unknown>, 'earlierCostUsd' | 'othersCostUsd'>

/** What trials of each group cost on average in earlier runs, else trials of its agent in other cases. */
export async function earlierCosts(
  trials: readonly ScenarioTrial[],
  store: Store,
): Promise<ReadonlyMap<string, EarlierCost>> {
  const costs = new Map<string, EarlierCost>()
  for (const [name, [first]] of Map.groupBy(trials, groupOf)) {
    if (first === undefined) continue
    const { case: ofCase, agent, model } = first
    const earlierCostUsd = await agentCostUsd({ case: ofCase, agent, model }, store)
    const othersCostUsd = earlierCostUsd ?? (await agentCostUsd({ agent, model }, store))
    if (earlierCostUsd !== null) costs.set(name, { earlierCostUsd })
    else if (othersCostUsd !== null) costs.set(name, { othersCostUsd })
  }
  return costs
}

/** Of how many earlier trials the mean times are known. */
const historyLimit = 20_000

/**
 * The mean time of a trial by case, to balance shards: from the baseline if there is one, else from the store. Every shard must find the
 * same, so runs of single shards do not count: they may end before another shard begins.
 */
export async function caseTimes(
  store: Store,
  { baseline, cwd }: { readonly baseline?: string | undefined; readonly cwd: string },
): Promise<Record<string, number>> {
  const isShard = new Map<string, boolean>()
  const isOfShard = ({ run_id }: TrialRow): boolean => {
    const state = isShard.has(run_id) ? null : readManifestState(join(store.runsDir, run_id))
    if (state !== null)
      isShard.set(run_id, state.kind !== 'whole' || state.manifest.details.shard !== undefined)
    return isShard.get(run_id) === true
  }
  const times =
    baseline === undefined
      ? (await trialHistory(store, { limit: historyLimit }))
          .filter((row) => row.cached_from === null && isCounted(row.verdict) && !isOfShard(row))
          .map((row) => ({ case: row.case, ms: row.duration_ms }))
      : (await openSide(store, baseline, cwd)).facts.flatMap(({ case: name, means }) =>
          means.time_ms === null ? [] : [{ case: name, ms: means.time_ms }],
        )
  const byCase = Map.groupBy(times, (time) => time.case)
  return Object.fromEntries(
    Array.from(byCase, ([name, of]) => [name, Math.round(mean(of.map(({ ms }) => ms)) ?? 0)]),
  )
}

/** The mean of counted trials; null when the cost of none is known. */
async function agentCostUsd(
  filter: Parameters<typeof trialHistory>[1],
  store: Store,
): Promise<number | null> {
  const rows = await trialHistory(store, filter)
  return mean(knownCosts(rows.filter((row) => row.cached_from === null && isCounted(row.verdict))))
}

function knownCosts(rows: readonly TrialRow[]): number[] {
  return rows.flatMap(({ cost_usd }) => (cost_usd === null ? [] : [cost_usd]))
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length
}

function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : sum(known)
}

interface PrecisionPlan {
  readonly cases: number
  readonly runs: number
  /** The pass rate expected of both sides. */
  readonly passRate?: number
  /** Standard deviation between cases of the true difference. */
  readonly betweenCaseSd?: number
}

/** Both as shares of 1. */
export interface PlanPrecision {
  /** Half the width of the 95% interval around a measured difference. */
  readonly halfWidth: number
  /** Smallest true difference that is found in 80 of 100 comparisons. */
  readonly detectable: number
}

/**
 * The precision of a plan, before any money is spent: of the difference between two sides that run the same cases equally often. The
 * difference varies between cases and by chance in the runs of both sides. Only more cases reduce the first. null without trials.
 */
export function planPrecision(plan: PrecisionPlan): PlanPrecision | null {
  const { cases, runs, passRate = 0.7, betweenCaseSd = 0.15 } = plan
  if (cases < 1 || runs < 1) return null
  // The answer of a comparison of few cases is about these cases only.
  const ofCases = cases < fewestCases ? 0 : betweenCaseSd ** 2
  const varianceAt = (difference: number): number =>
    ofCases + Math.max(0, 2 * passRate * (1 - passRate) - difference ** 2 / 2) / runs
  return { halfWidth: likelyHalfWidth(plan), detectable: detectableDifference(cases, runs, varianceAt) }
}

/** The mean over made-up comparisons of sides that do not differ on average, because the interval has no formula. */
function likelyHalfWidth({ cases, runs, passRate = 0.7, betweenCaseSd = 0.15 }: PrecisionPlan): number {
  const random = seededRandom(1)
  const passes = (chance: number): CaseCount => {
    let count = 0
    for (let run = 0; run < runs; run += 1) if (random() < chance) count += 1
    return { passes: count, n: runs }
  }
  // Uniform with the standard deviation of the cases. Wider intervals vary more from comparison to comparison.
  const shift = (): number => (2 * random() - 1) * betweenCaseSd * Math.sqrt(3)
  const comparisons = Math.min(12, 2 + Math.ceil(100 / cases))
  const widths = Array.from({ length: comparisons }, () => {
    const pairs = Array.from({ length: cases }, () => ({
      before: passes(passRate),
      after: passes(Math.min(1, passRate + shift())),
    }))
    const { low, high } = compareCases(pairs)
    return high - low
  })
  return sum(widths) / comparisons / 2
}
