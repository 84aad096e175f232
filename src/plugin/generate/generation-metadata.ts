import { addCost } from '../../core/add-cost.ts'
import type { TokenUsage } from '../../core/trial.ts'
import { createUsageRows } from '../../models/usage-rows.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type ComponentRecord, typeCounts } from './component-record.ts'
import type { PluginScenario, ScenarioType } from './contract.ts'
import type { Merged } from './merge-scenarios.ts'

/** `generation-metadata.json`: how the scenarios of a run came about, and what they cost. */
export interface GenerationMetadata {
  readonly schema_version: 1
  /** null: no model was available. */
  readonly model: string | null
  readonly settings: Pick<
    PluginConfig['generation'],
    | 'scenarios_per_component'
    | 'diversity'
    | 'semantic_variations'
    | 'reasoning_effort'
    | 'temperature'
    | 'max_tokens'
  >
  readonly total: number
  readonly by_type: Partial<Record<ScenarioType, number>>
  readonly by_origin: Partial<Record<PluginScenario['origin'], number>>
  /** In the order of the components. */
  readonly components: readonly ComponentRecord[]
  /** Ids of generated scenarios that were replaced by hand-written ones. */
  readonly replaced_by_hand: readonly string[]
  /** Ids of generated scenarios whose text already existed. */
  readonly duplicates_dropped: readonly string[]
  readonly usage: readonly {
    readonly model: string
    readonly requests: number
    readonly tokens: TokenUsage
    readonly cost_usd: number | null
  }[]
  /** null = unmetered. */
  readonly cost_usd: number | null
  readonly warnings: readonly string[]
}

export function generationMetadata(parts: {
  readonly model: string | null
  readonly config: PluginConfig
  readonly records: readonly ComponentRecord[]
  readonly merged: Merged
  readonly warnings: readonly string[]
}): GenerationMetadata {
  const { generation } = parts.config
  const { scenarios, replaced, duplicates } = parts.merged
  const paid = usageOf(parts.records)
  return {
    schema_version: 1,
    model: parts.model,
    settings: {
      scenarios_per_component: generation.scenarios_per_component,
      diversity: generation.diversity,
      semantic_variations: generation.semantic_variations,
      reasoning_effort: generation.reasoning_effort,
      temperature: generation.temperature,
      max_tokens: generation.max_tokens,
    },
    total: scenarios.length,
    by_type: typeCounts(scenarios),
    by_origin: originCounts(scenarios),
    components: parts.records,
    replaced_by_hand: replaced,
    duplicates_dropped: duplicates,
    usage: paid,
    cost_usd: paid.reduce<number | null>((sum, { cost_usd }) => addCost(sum, cost_usd), 0),
    warnings: parts.warnings,
  }
}

function usageOf(records: readonly ComponentRecord[]): GenerationMetadata['usage'] {
  const ledger = createUsageRows()
  const requests = new Map<string, number>()
  for (const row of records.flatMap(({ usage }) => usage)) {
    ledger.add({ model: row.model, tokens: row.tokens, costUsd: row.cost_usd })
    requests.set(row.model, (requests.get(row.model) ?? 0) + row.requests)
  }
  return ledger.rows().map(({ model, tokens, costUsd }) => ({
    model,
    requests: requests.get(model) ?? 0,
    tokens,
    cost_usd: costUsd,
  }))
}

function originCounts(
  scenarios: readonly PluginScenario[],
): Partial<Record<PluginScenario['origin'], number>> {
  const counts: Partial<Record<PluginScenario['origin'], number>> = {}
  for (const { origin } of scenarios) counts[origin] = (counts[origin] ?? 0) + 1
  return counts
}
