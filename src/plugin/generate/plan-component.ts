import type { Analysis } from '../analyze/contract.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { batchSlots, type SlotBatch } from './batch-slots.ts'
import { componentPrompt, type ModelWritten } from './component-prompt.ts'
import { type Neighbour, neighboursOf } from './neighbours.ts'
import { planSlots, type Slot } from './slot.ts'

/** What will be asked of a model about one component. Known before anything is spent. */
export interface ComponentPlan {
  readonly entry: ModelWritten
  readonly neighbours: readonly Neighbour[]
  readonly slots: readonly Slot[]
  readonly batches: readonly SlotBatch[]
}

export function planComponent(
  entry: ModelWritten,
  analysis: Pick<Analysis, 'components' | 'findings'>,
  config: Pick<PluginConfig, 'generation' | 'tuning'>,
): ComponentPlan {
  const neighbours = neighboursOf(analysis, entry)
  const { scenarios_per_component: total, diversity, semantic_variations: semantic } = config.generation
  const hasRival = neighbours.some(({ isRival }) => isRival)
  const slots = planSlots({ componentType: entry.type, total, diversity, semantic, hasRival })
  return { entry, neighbours, slots, batches: batchSlots(slots, config) }
}

/** The first questions; later ones also tell what is written already, and what was wrong. */
export function plannedPrompts({ entry, neighbours, batches }: ComponentPlan): readonly string[] {
  return batches.map(({ slots }) =>
    componentPrompt({ entry, neighbours, slots, ideas: [], written: [], problems: [] }),
  )
}
