import { addCost } from '../../core/add-cost.ts'
import { contentHash } from '../../io/content-hash.ts'
import { componentId } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type ComponentScenarios, componentScenariosSchema } from './component-record.ts'
import { generationSystem } from './generation-system.ts'
import { type ComponentPlan, plannedPrompts } from './plan-component.ts'

/** Where what was paid for is kept, one value per component. */
export interface GenerationCheckpoint {
  load(component: string): unknown
  /** Must be on disk when it returns. */
  save(component: string, value: unknown): void
}

/** What an earlier process has paid for, when it is about the same component and was asked for in the same way; else null. */
export function loadComponent(
  checkpoint: GenerationCheckpoint,
  plan: ComponentPlan,
  config: PluginConfig,
): ComponentScenarios | null {
  const kept = checkpoint.load(idOf(plan))
  if (typeof kept !== 'object' || kept === null || !('key' in kept)) return null
  if (kept.key !== keyOf(plan, config)) return null
  const read = componentScenariosSchema.safeParse(kept)
  return read.success ? read.data : null
}

export function saveComponent(
  checkpoint: GenerationCheckpoint,
  plan: ComponentPlan,
  config: PluginConfig,
  done: ComponentScenarios,
): void {
  checkpoint.save(idOf(plan), { key: keyOf(plan, config), cost_usd: costOf(done), ...done })
}

/** null = unmetered. Stands at the top, for whoever adds up what a run has spent. */
function costOf({ record }: ComponentScenarios): number | null {
  return record.usage.reduce<number | null>((sum, { cost_usd }) => addCost(sum, cost_usd), 0)
}

function idOf({ entry }: ComponentPlan): string {
  return componentId(entry.type, entry.component.name)
}

/** The questions hold all that is known of the component; how they are asked is the rest. */
function keyOf(plan: ComponentPlan, { generation }: PluginConfig): string {
  const { model, max_tokens, reasoning_effort, temperature } = generation
  return contentHash([
    generationSystem,
    ...plannedPrompts(plan),
    JSON.stringify({ model, max_tokens, reasoning_effort, temperature }),
  ])
}
