import { type PlanPrecision, planPrecision } from '../core/stats/plan-precision.ts'
import { cacheGet } from '../store/cache.ts'
import type { Store } from '../store/contract.ts'
import { trialHistory } from '../store/trial-history.ts'
import { judgeCalls } from './judge-batch.ts'
import type { ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'

/** What a run would do and cost, before it does. */
export interface RunEstimate {
  readonly trials: number
  readonly cases: number
  readonly cacheHits: number
  /** Over the trials that would really run and have a history; null when none has. */
  readonly costUsd: number | null
  /** The same for the time of the agents, with the run's concurrency. */
  readonly durationMs: number | null
  /** Trials that would really run and of which nothing is known. */
  readonly withoutHistory: number
  /** Of all prompts; rough: four characters a token. */
  readonly promptTokens: number
  readonly precision: PlanPrecision | null
  /** Calls at most, those for trials from the cache left out; null when there is no judge. `batched`: at half the price. */
  readonly judge: { readonly model: string; readonly calls: number; readonly batched: boolean } | null
  readonly groups: readonly GroupEstimate[]
}

/** One case by one agent with one model. */
export interface GroupEstimate {
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly trials: number
  readonly cacheHits: number
  readonly promptTokens: number
  readonly costUsd: number | null
  readonly durationMs: number | null
}

/** Reads the cache and the history; runs nothing and writes nothing. */
export async function estimateRun(
  { request, trials, cases, keys, judge, judgeBatch }: PreparedRun,
  store: Store,
): Promise<RunEstimate> {
  const byGroup = Map.groupBy(trials, ({ case: name, agent, model }) => JSON.stringify([name, agent, model]))
  const groups: GroupEstimate[] = []
  const uncached: ScenarioTrial[] = []
  for (const members of byGroup.values()) {
    const [first] = members
    const entry = first === undefined ? undefined : cases.get(first.case)
    if (first === undefined || entry === undefined) continue
    const { case: name, agent, model } = first
    const mayCache = request.cache && entry.scenario.cost.cache
    const toRun = members.filter(({ id }) => !mayCache || cacheGet(store, keys.get(id) ?? '') === null)
    const open = toRun.length
    const cacheHits = members.length - open
    uncached.push(...toRun)
    const earlier = (await trialHistory(store, { case: name, agent, model })).filter(
      (row) => row.cached_from === null,
    )
    const meanCostUsd = mean(earlier.flatMap((row) => (row.cost_usd === null ? [] : [row.cost_usd])))
    const meanDurationMs = mean(earlier.map((row) => row.duration_ms))
    groups.push({
      case: name,
      agent,
      model,
      trials: members.length,
      cacheHits,
      promptTokens: Math.ceil(entry.scenario.task.prompt.length / 4) * open,
      costUsd: open === 0 ? 0 : meanCostUsd === null ? null : meanCostUsd * open,
      durationMs: open === 0 ? 0 : meanDurationMs === null ? null : meanDurationMs * open,
    })
  }
  const calls = judgeCalls(uncached, cases)
  const durationMs = sumKnown(groups.map((group) => group.durationMs))
  return {
    trials: trials.length,
    cases: new Set(trials.map((trial) => trial.case)).size,
    cacheHits: sum(groups.map((group) => group.cacheHits)),
    costUsd: sumKnown(groups.map((group) => group.costUsd)),
    durationMs: durationMs === null ? null : durationMs / request.concurrency,
    withoutHistory: sum(
      groups.filter((group) => group.durationMs === null).map((group) => group.trials - group.cacheHits),
    ),
    promptTokens: sum(groups.map((group) => group.promptTokens)),
    precision: planPrecision({ cases: cases.size, runs: request.repeat }),
    judge:
      judge === null
        ? null
        : {
            model: judge.name,
            calls,
            batched: judgeBatch !== null && calls >= judgeBatch.minimum,
          },
    groups,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length
}

function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : sum(known)
}
