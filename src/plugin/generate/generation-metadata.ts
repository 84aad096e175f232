import { addCost } from '../../core/add-cost.ts'
import { createUsageRows } from '../../models/usage-rows.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type ComponentRecord, occurrences } from './component-record.ts'
import type { Merged } from './merge-scenarios.ts'

/** `generation-metadata.json`: how the scenarios of a run were made, and their cost. */
export function generationMetadata(parts: {
  /** null: no model was available. */
  readonly model: string | null
  readonly config: PluginConfig
  /** In the order of the components. */
  readonly records: readonly ComponentRecord[]
  readonly merged: Merged
  readonly warnings: readonly string[]
}) {
  const { scenarios_per_component, diversity, semantic_variations } = parts.config.generation
  const { reasoning_effort, temperature, max_tokens } = parts.config.generation
  const { scenarios, replaced, duplicates } = parts.merged
  const usage = usageOf(parts.records)
  return {
    schema_version: 1,
    model: parts.model,
    settings: {
      scenarios_per_component,
      diversity,
      semantic_variations,
      reasoning_effort,
      temperature,
      max_tokens,
    },
    total: scenarios.length,
    by_type: occurrences(scenarios.map(({ scenario_type }) => scenario_type)),
    by_origin: occurrences(scenarios.map(({ origin }) => origin)),
    components: parts.records,
    /** Ids of generated scenarios that were replaced by hand-written ones. */
    replaced_by_hand: replaced,
    /** Ids of generated scenarios whose text already existed. */
    duplicates_dropped: duplicates,
    usage,
    /** null = unmetered. */
    cost_usd: usage.map(({ cost_usd }) => cost_usd).reduce(addCost, 0),
    warnings: parts.warnings,
  } as const
}

function usageOf(records: readonly ComponentRecord[]): ComponentRecord['usage'] {
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
