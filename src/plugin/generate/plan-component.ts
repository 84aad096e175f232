import { thinkingTokens } from '../../models/estimate-usd.ts'
import type { Analysis, Components } from '../analyze/contract.ts'
import { type AnyComponent, componentList } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { componentPrompt, type ModelWritten, neighboursOf } from './component-prompt.ts'
import { planSlots, type ScenarioSlot } from './plan-slots.ts'

/** The requests to the model about one component. Known before anything is spent. */
export type ComponentPlan = ReturnType<typeof planComponent>

export function planComponent(
  entry: ModelWritten,
  analysis: Pick<Analysis, 'components' | 'findings'>,
  config: Pick<PluginConfig, 'generation' | 'tuning'>,
) {
  const neighbours = neighboursOf(analysis, entry)
  const { scenarios_per_component: total, diversity, semantic_variations: semantic } = config.generation
  const hasRival = neighbours.some(({ isRival }) => isRival)
  const slots = planSlots({ componentType: entry.type, total, diversity, semantic, hasRival })
  return { entry, neighbours, slots, batches: batchSlots(slots, config) }
}

/** The first prompts. Later ones also contain the scenarios written so far and what was wrong. */
export function plannedPrompts({ entry, neighbours, batches }: ComponentPlan): readonly string[] {
  return batches.map(({ slots }) =>
    componentPrompt({ entry, neighbours, slots, ideas: [], written: [], problems: [] }),
  )
}

/** The slots of one request. */
export interface SlotBatch {
  readonly slots: readonly ScenarioSlot[]
  /** Limit of the answer. */
  readonly maxTokens: number
}

/**
 * Slots in batches whose answers are likely to fit into `max_tokens`: a truncated answer is paid for and lost. Slots of one idea stay
 * together. Semantic ones come last, with their own limit plus room for thinking.
 */
export function batchSlots(
  slots: readonly ScenarioSlot[],
  { generation, tuning }: Pick<PluginConfig, 'generation' | 'tuning'>,
): readonly SlotBatch[] {
  const { max_tokens, reasoning_effort: effort } = generation
  const { semantic_gen_max_tokens } = tuning.token_estimates
  const portions: ScenarioSlot[][] = []
  for (const slot of byBase(slots.filter(({ type }) => type !== 'semantic'))) {
    const last = portions.at(-1)
    if (last !== undefined && answerTokens([...last, slot], tuning.token_estimates) <= max_tokens)
      last.push(slot)
    else portions.push([slot])
  }
  const semantic = slots.filter(({ type }) => type === 'semantic')
  const room = semantic_gen_max_tokens + thinkingTokens({ effort, maxOutputTokens: max_tokens })
  return [
    ...portions.map((portion) => ({ slots: portion, maxTokens: max_tokens })),
    ...(semantic.length === 0 ? [] : [{ slots: semantic, maxTokens: Math.min(max_tokens, room) }]),
  ]
}

/** Ideas in the order in which they first appear, the slots of each in theirs. */
function byBase(slots: readonly ScenarioSlot[]): readonly ScenarioSlot[] {
  return [...Map.groupBy(slots, ({ base }) => base).values()].flat()
}

type Estimates = Pick<
  PluginConfig['tuning']['token_estimates'],
  'output_per_scenario' | 'semantic_gen_max_tokens'
>

/** The estimated length of the answer for these slots. Semantic slots never exceed their own limit. */
export function answerTokens(slots: readonly ScenarioSlot[], estimates: Estimates): number {
  const semantic = slots.filter(({ type }) => type === 'semantic').length
  return (
    (slots.length - semantic) * estimates.output_per_scenario +
    Math.min(semantic * estimates.output_per_scenario, estimates.semantic_gen_max_tokens)
  )
}

/** The components the configuration wants scenarios for, in the order of the analysis. */
export function componentsInScope(
  components: Components,
  scope: PluginConfig['scope'],
): readonly AnyComponent[] {
  return componentList(components).filter(({ type }) => scope[`${type}s`])
}
