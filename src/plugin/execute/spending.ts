import type { Budget } from '../../models/budget.ts'
import { type PriceTable, price } from '../../models/pricing.ts'
import type { PluginConfig } from '../config/keys/schema.ts'

/** The money of one execution: no scenario begins that the run's budget does not allow, and none can spend what another holds. */
export interface Spending {
  /** Sets money aside for one scenario. null: the budget is used up. Waits while what others hold may become free. */
  hold(): Promise<Held | null>
  /** Why nothing more can be held. */
  refusal(): string | null
}

export interface Held {
  /** What the scenario may cost; undefined = without limit. */
  readonly maxCostUsd: number | undefined
  /** To be called once. null = the cost stayed unknown. */
  settle(costUsd: number | null): void
}

export interface SpendingFacts {
  readonly budget: Budget
  readonly config: Pick<PluginConfig, 'execution' | 'tuning'>
  readonly prices: PriceTable
  /** How many scenarios may be under way. */
  readonly hands: number
  /** Answers come from a file: nothing is held, and what is settled is nothing. */
  readonly isFree: boolean
}

export function openSpending(facts: SpendingFacts): Spending {
  const { budget, hands, isFree } = facts
  const planned = plannedUsd(facts)
  const costs: number[] = []
  let underWay = 0
  let waiting: (() => void)[] = []
  let refused: string | null = null

  const settled = (): void => {
    underWay -= 1
    const all = waiting
    waiting = []
    for (const go of all) go()
  }
  /** An equal part of what is left for every hand, or what a scenario costs on the average, if that is more. */
  const share = (): { readonly usd: number | null; readonly isEnough: boolean } => {
    const left = budget.remainingUsd()
    if (left === null || budget.capUsd === null) return { usd: null, isEnough: true }
    const mean = costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0) / costs.length
    const part = (budget.capUsd - budget.state().spentUsd) / hands
    const usd = Math.min(Math.max(part, mean ?? planned ?? 0), left)
    return { usd, isEnough: left > 0 && usd >= (mean ?? 0) }
  }
  const tryHold = (): Held | null => {
    const { usd, isEnough } = share()
    const grant = isEnough ? budget.reserve(usd) : null
    if (grant === null || grant.kind === 'refused') {
      refused = grant?.message ?? tooLittle(budget)
      return null
    }
    underWay += 1
    return {
      maxCostUsd: usd ?? undefined,
      settle(costUsd) {
        if (costUsd !== null) costs.push(costUsd)
        grant.settle(costUsd)
        settled()
      },
    }
  }

  return {
    async hold() {
      if (isFree) return { maxCostUsd: undefined, settle: () => {} }
      for (;;) {
        const held = tryHold()
        if (held !== null || underWay === 0) return held
        await new Promise<void>((go) => waiting.push(go))
      }
    },
    refusal: () => refused,
  }
}

/** What a scenario is thought to cost before any has been tried. */
function plannedUsd({ config, prices }: SpendingFacts): number | null {
  const { max_turns, model } = config.execution
  const { input_per_turn, output_per_turn } = config.tuning.token_estimates
  const tokens = {
    input: max_turns * input_per_turn,
    output: max_turns * output_per_turn,
    cacheRead: 0,
    cacheWrite: 0,
  }
  return price(model, tokens, prices)
}

function tooLittle(budget: Budget): string {
  const left = budget.remainingUsd() ?? 0
  return `the budget of $${(budget.capUsd ?? 0).toFixed(2)} has $${left.toFixed(4)} left, which is less than a scenario costs`
}
