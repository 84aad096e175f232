import { thinkingTokens } from '../../models/thinking-tokens.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { answerTokens } from './answer-tokens.ts'
import type { Slot } from './slot.ts'

/** What is asked for with one question. */
export interface SlotBatch {
  readonly slots: readonly Slot[]
  /** The answer may be so long. */
  readonly maxTokens: number
}

/**
 * Slots in portions whose answers are likely to fit into `max_tokens`: an answer that is cut off is lost and paid. Slots of
 * one idea stay together. Semantic ones come last, with a limit of their own, beside which there is room for thoughts.
 */
export function batchSlots(
  slots: readonly Slot[],
  { generation, tuning }: Pick<PluginConfig, 'generation' | 'tuning'>,
): readonly SlotBatch[] {
  const { max_tokens, reasoning_effort: effort } = generation
  const { semantic_gen_max_tokens } = tuning.token_estimates
  const portions: Slot[][] = []
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
function byBase(slots: readonly Slot[]): readonly Slot[] {
  return [...Map.groupBy(slots, ({ base }) => base).values()].flat()
}
