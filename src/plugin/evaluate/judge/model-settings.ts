import type { PluginConfig } from '../../../config/plugin-schema.ts'
import type { Budget } from '../../../models/budget.ts'
import type { ModelRequest } from '../../../models/contract.ts'

export interface AskingPowers {
  readonly config: Pick<PluginConfig, 'evaluation'>
  readonly signal?: AbortSignal
  /** Charged instead of the model's own. */
  readonly budget?: Budget
}

/** How every judge of an evaluation is asked: what the configuration says under `evaluation`. */
export function modelSettings({
  config: { evaluation },
  signal,
  budget,
}: AskingPowers): Omit<ModelRequest, 'prompt' | 'system'> {
  return {
    maxOutputTokens: evaluation.max_tokens,
    temperature: evaluation.temperature,
    effort: evaluation.reasoning_effort,
    timeoutMs: evaluation.api_timeout_ms,
    ...(signal !== undefined && { signal }),
    ...(budget !== undefined && { budget }),
  }
}
