import type { PluginConfig } from '../config/keys/schema.ts'
import type { Slot } from './slot.ts'

type Estimates = Pick<
  PluginConfig['tuning']['token_estimates'],
  'output_per_scenario' | 'semantic_gen_max_tokens'
>

/** What a model is reckoned to write to fill these slots. For the semantic ones it is never given more room than their limit. */
export function answerTokens(slots: readonly Slot[], estimates: Estimates): number {
  const semantic = slots.filter(({ type }) => type === 'semantic').length
  return (
    (slots.length - semantic) * estimates.output_per_scenario +
    Math.min(semantic * estimates.output_per_scenario, estimates.semantic_gen_max_tokens)
  )
}
