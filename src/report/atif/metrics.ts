import type { UsageEvent } from '../../core/event.ts'
import { defined } from '../../core/json-fields.ts'
import type { TokenUsage } from '../../core/trial.ts'
import type { AtifMetrics, AtifTrajectory } from './schema.ts'

type Usage = Omit<UsageEvent, 'ts' | 'event' | 'model'>

/** Tokens and cost of one step. Prompt tokens include those read from the cache. */
export function stepMetrics(usages: readonly Usage[]): AtifMetrics {
  const sum = (read: (usage: Usage) => number | undefined): number =>
    Math.round(usages.reduce((total, usage) => total + (read(usage) ?? 0), 0))
  const cached = sum((usage) => usage.cache_read_tokens)
  const written = sum((usage) => usage.cache_write_tokens)
  const thought = sum((usage) => usage.thinking_tokens)
  const costs = usages.flatMap(({ cost_usd }) => (cost_usd === undefined ? [] : [cost_usd]))
  const details = {
    ...(written === 0 ? {} : { cache_write_tokens: written }),
    ...(thought === 0 ? {} : { reasoning_tokens: thought }),
  }
  return {
    prompt_tokens: sum((usage) => usage.input_tokens) + cached + written,
    completion_tokens: sum((usage) => usage.output_tokens),
    cached_tokens: cached,
    ...(costs.length === 0 ? {} : { cost_usd: costs.reduce((total, cost) => total + cost, 0) }),
    ...(Object.keys(details).length === 0 ? {} : { extra: details }),
  }
}

/** Metrics of the whole trajectory. Unknown values are omitted: unknown is not zero. */
export function finalMetrics(
  tokens: TokenUsage | null,
  costUsd: number | null,
  steps: number,
): NonNullable<AtifTrajectory['final_metrics']> {
  const { prompt_tokens, completion_tokens, cached_tokens, extra } = usageOf(tokens)
  return defined({
    total_prompt_tokens: prompt_tokens,
    total_completion_tokens: completion_tokens,
    total_cached_tokens: cached_tokens,
    total_cost_usd: costUsd ?? undefined,
    total_steps: steps,
    extra,
  })
}

function usageOf(tokens: TokenUsage | null): AtifMetrics {
  if (tokens === null) return {}
  const { input, output, cacheRead, cacheWrite, thinking } = tokens
  const cached = { cache_read_tokens: cacheRead, cache_write_tokens: cacheWrite }
  const used = { input_tokens: input, output_tokens: output, ...cached }
  return stepMetrics([{ ...used, ...defined({ thinking_tokens: thinking }) }])
}
