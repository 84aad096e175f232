import { settled } from '../../../core/case-tally.ts'
import { addTokens, noTokens, type TokenUsage } from '../../../core/trial.ts'
import { type PriceTable, price } from '../../../models/price-table.ts'
import type { Arm } from '../../contract.ts'
import type { Execution } from '../../execute/contract.ts'
import type { ModelUse, TrialEvaluation } from '../contract.ts'

/** What was paid outside of trials. */
export interface OtherCosts {
  /** null = unmetered. */
  readonly generation_cost_usd?: number | null
  /** By model. Absent in a run of an older version. */
  readonly generation_usage?: readonly ModelUse[]
  readonly plugin_load_cost_usd?: number
  /** For trials that ran again, and attempts that were cut off. */
  readonly lost_cost_usd?: number
  /** Of it, what is known by model. */
  readonly lost_usage?: readonly ModelUse[]
  /** For all stored answers of judges, also those that no trial uses any more because another judge was asked. */
  readonly judges_cost_usd?: number
}

export interface CostRow {
  readonly stage: 'generation' | 'execution' | 'evaluation'
  /** `failed_tries`: attempts that were repeated. `lost`: trials that ran again, attempts that were cut off, answers of an earlier judge. */
  readonly kind: 'scenarios' | 'load' | 'trials' | 'failed_tries' | 'lost' | 'judge' | 'graders'
  /** null outside of trials. */
  readonly arm: Arm | null
  /** null when it is not known which. */
  readonly model: string | null
  /** Of trials or calls. */
  readonly count: number
  readonly tokens: TokenUsage | null
  /** null = unmetered. */
  readonly paid_usd: number | null
  /** null when the model has no known price. */
  readonly list_usd: number | null
}

type ExecutionCosts = Pick<Execution, 'model_usage' | 'api_duration_ms' | 'earlier_cost_usd'>

/**
 * Cost and tokens over all trials, including those that failed for infrastructure reasons.
 *
 * One ledger: every amount is a row of its stage, model and arm, and every total is a sum over rows. What was paid and the list
 * price are kept apart: a script or a recording is not paid for, and a batch costs half.
 */
export function createCostTally(prices: PriceTable) {
  const rows = createRows()
  let unmeteredTrials = 0
  let apiDurationMs = 0
  const listUsd = ({ model, tokens, cost_usd }: ModelUse): number | null =>
    price(model, tokens, prices) ?? cost_usd
  /** An amount outside of trials: what is known of it by model, and the rest. */
  const addUses = (
    key: Omit<RowKey, 'arm' | 'model'>,
    paidUsd: number | null = 0,
    uses: readonly ModelUse[] = [],
  ): void => {
    for (const use of uses)
      rows.add(
        { ...key, arm: null, model: use.model },
        { paidUsd: use.cost_usd, listUsd: listUsd(use), tokens: use.tokens },
      )
    const restUsd = (paidUsd ?? 0) - uses.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
    if (restUsd > 1e-9) rows.add({ ...key, arm: null, model: null }, { paidUsd: restUsd })
  }

  return {
    add: (evaluation: TrialEvaluation, execution: ExecutionCosts | null): void => {
      const { trial, cost_usd, evaluation_cost_usd, judgement, grader_usage } = evaluation
      if (cost_usd === null || evaluation_cost_usd === null) unmeteredTrials += 1
      apiDurationMs += execution?.api_duration_ms ?? 0
      const key = { stage: 'execution', kind: 'trials', arm: trial.arm } as const
      const lostUsd = Math.min(execution?.earlier_cost_usd ?? 0, cost_usd ?? 0)
      const used = execution?.model_usage ?? []
      const main = used[0]?.model ?? null
      if (lostUsd > 0) rows.add({ ...key, kind: 'failed_tries', model: main }, { paidUsd: lostUsd })
      const shares = sharesOf(
        cost_usd === null ? null : cost_usd - lostUsd,
        used.map(({ costUsd }) => costUsd ?? 0),
      )
      for (const [index, { model, tokens, costUsd }] of used.entries())
        rows.add({ ...key, model }, { paidUsd: shares[index] ?? null, listUsd: costUsd, tokens })
      if (used.length === 0 && (cost_usd ?? 0) > 0)
        rows.add({ ...key, model: null }, { paidUsd: (cost_usd ?? 0) - lostUsd })
      const judge = { stage: 'evaluation', arm: trial.arm } as const
      const asked = [
        ...(judgement === null ? [] : [{ kind: 'judge' as const, use: judgement }]),
        ...(grader_usage === undefined ? [] : [{ kind: 'graders' as const, use: grader_usage }]),
      ]
      for (const { kind, use } of asked) {
        const known = { ...use, tokens: use.tokens ?? noTokens }
        rows.add(
          { ...judge, kind, model: use.model },
          {
            paidUsd: use.cost_usd,
            listUsd: use.tokens === undefined ? use.cost_usd : listUsd(known),
            ...(use.tokens !== undefined && { tokens: use.tokens }),
          },
        )
      }
      // An evaluation of an older version does not say which model its graders asked.
      const rest = (evaluation_cost_usd ?? 0) - asked.reduce((sum, { use }) => sum + (use.cost_usd ?? 0), 0)
      if (rest > 1e-9) rows.add({ ...judge, kind: 'graders', model: null }, { paidUsd: rest })
    },
    /** Call it once. */
    finish: (other: OtherCosts, scenarios: number) => {
      const { generation_cost_usd = 0, plugin_load_cost_usd = 0, lost_cost_usd = 0 } = other
      addUses({ stage: 'generation', kind: 'scenarios' }, generation_cost_usd, other.generation_usage)
      addUses({ stage: 'execution', kind: 'load' }, plugin_load_cost_usd)
      addUses({ stage: 'execution', kind: 'lost' }, lost_cost_usd, other.lost_usage)
      const paidIn = (stage: CostRow['stage']): number =>
        settled(rows.rows().reduce((sum, row) => sum + (row.stage === stage ? (row.paid_usd ?? 0) : 0), 0))
      const unusedUsd = Math.max(0, (other.judges_cost_usd ?? 0) - paidIn('evaluation'))
      addUses({ stage: 'evaluation', kind: 'lost' }, unusedUsd)
      const ledger = rows.rows()
      const total = settled(paidIn('generation') + paidIn('execution') + paidIn('evaluation'))
      return {
        /** The known cost; `unmetered_trials` are not included. */
        total_cost_usd: total,
        avg_cost_per_scenario: scenarios === 0 ? null : settled(total / scenarios),
        generation_cost_usd: generation_cost_usd === null ? null : paidIn('generation'),
        /** Includes the plugin load and lost costs. */
        execution_cost_usd: paidIn('execution'),
        plugin_load_cost_usd,
        /** For trials that ran again, and attempts that were cut off. */
        lost_cost_usd: settled(lost_cost_usd + unusedUsd),
        evaluation_cost_usd: paidIn('evaluation'),
        /** What the same tokens cost at list price, as far as known: without what scripts and recordings saved. */
        list_price_usd: settled(ledger.reduce((sum, { list_usd }) => sum + (list_usd ?? 0), 0)),
        unmetered_trials: unmeteredTrials,
        total_api_duration_ms: settled(apiDurationMs),
        /** Every amount once. The totals above are sums over its `paid_usd`. */
        ledger,
        /** The ledger by stage and model. */
        by_model: byModel(ledger),
      }
    },
  }
}

/** What an attempt used that is no longer in the run: what it cost, by model. */
export function lostUse({
  cost_usd,
  model_usage: used,
}: Pick<Execution, 'cost_usd' | 'model_usage'>): ModelUse[] {
  const shares = sharesOf(
    cost_usd,
    used.map(({ costUsd }) => costUsd ?? 0),
  )
  return used.map(({ model, tokens }, index) => ({ model, tokens, cost_usd: shares[index] ?? null }))
}

/** A cost in proportion to list prices; all of it to the first when there are none. The shares add up to the cost. */
function sharesOf(costUsd: number | null, listed: readonly number[]): readonly (number | null)[] {
  if (costUsd === null) return listed.map(() => null)
  const whole = listed.reduce((sum, usd) => sum + usd, 0)
  return listed.map((usd, index) => (whole > 0 ? (costUsd * usd) / whole : index === 0 ? costUsd : 0))
}

type RowKey = Pick<CostRow, 'stage' | 'kind' | 'arm' | 'model'>

interface Amount {
  readonly paidUsd: number | null
  readonly listUsd?: number | null
  readonly tokens?: TokenUsage
}

function createRows() {
  const rows = new Map<string, CostRow>()
  return {
    add: ({ stage, kind, arm, model }: RowKey, { paidUsd, listUsd = null, tokens }: Amount): void => {
      const name = JSON.stringify([order.indexOf(stage), kind, arm, model])
      const row = rows.get(name)
      rows.set(name, {
        stage,
        kind,
        arm,
        model,
        count: (row?.count ?? 0) + 1,
        tokens: tokens === undefined ? (row?.tokens ?? null) : addTokens(row?.tokens ?? noTokens, tokens),
        paid_usd: knownSum(row?.paid_usd, paidUsd),
        list_usd: knownSum(row?.list_usd, listUsd),
      })
    },
    // Settled, so that the order of adding does not show.
    rows: (): readonly CostRow[] =>
      [...rows]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, row]) => ({
          ...row,
          paid_usd: row.paid_usd === null ? null : settled(row.paid_usd),
          list_usd: row.list_usd === null ? null : settled(row.list_usd),
        })),
  }
}

const order: readonly CostRow['stage'][] = ['generation', 'execution', 'evaluation']

/** Of what is known; null when nothing is. */
function knownSum(sum: number | null | undefined, more: number | null): number | null {
  return more === null ? (sum ?? null) : (sum ?? 0) + more
}

function byModel(ledger: readonly CostRow[]) {
  const named = ledger.filter(
    ({ model, tokens, list_usd }) => model !== null && (tokens !== null || list_usd !== null),
  )
  return [...Map.groupBy(named, ({ stage, model }) => JSON.stringify([stage, model]))]
    .toSorted(([a], [b]) => (a < b ? 1 : -1))
    .flatMap(([, rows]) => {
      const [first] = rows
      if (first?.model == null) return []
      const cost = rows.reduce<number | null>((sum, { list_usd }) => knownSum(sum, list_usd), null)
      const paid = rows.reduce<number | null>((sum, { paid_usd }) => knownSum(sum, paid_usd), null)
      return [
        {
          model: first.model,
          stage: first.stage,
          tokens: rows.reduce<TokenUsage | null>(
            (sum, { tokens }) => (tokens === null ? sum : addTokens(sum ?? noTokens, tokens)),
            null,
          ),
          /** The list price; null when no call of it had a known price. */
          cost_usd: cost === null ? null : settled(cost),
          paid_usd: paid === null ? null : settled(paid),
          trials: rows.reduce((sum, { count }) => sum + count, 0),
        },
      ]
    })
}

/** How much of the agents' input came from a cache, and what that saved. */
export function cacheStats(models: ReturnType<typeof byModel>, prices: PriceTable) {
  const used = models.flatMap(({ stage, model, tokens }) =>
    tokens === null || stage !== 'execution' ? [] : [{ model, tokens }],
  )
  const { input, cacheRead, cacheWrite } = used.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)
  const allInput = input + cacheRead + cacheWrite
  let savingsUsd: number | null = 0
  for (const { model, tokens } of used) {
    if (tokens.cacheRead + tokens.cacheWrite === 0) continue
    const plain = price(model, { ...noTokens, input: tokens.cacheRead + tokens.cacheWrite }, prices)
    const paid = price(
      model,
      { ...noTokens, cacheRead: tokens.cacheRead, cacheWrite: tokens.cacheWrite },
      prices,
    )
    savingsUsd = plain === null || paid === null || savingsUsd === null ? null : savingsUsd + plain - paid
  }
  return {
    cache_read_tokens: cacheRead,
    cache_creation_tokens: cacheWrite,
    /** Plain, read and written. */
    input_tokens: allInput,
    /** Of all input, what was read from a cache. */
    hit_rate: allInput === 0 ? null : settled(cacheRead / allInput),
    /** Against the same tokens as plain input; null when a model has no known price. Negative when writing cost more than reading saved. */
    savings_usd: savingsUsd === null ? null : settled(savingsUsd),
  }
}
