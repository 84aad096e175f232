import { createAnthropic } from '@ai-sdk/anthropic'
import type { Provider } from '../provider.ts'
import { anthropicAccess } from './access.ts'
import { createComplete } from './complete.ts'
import { claudeThinking } from './messages.ts'

/** `anthropic:claude-…`. */
export const anthropic: Provider = {
  name: 'anthropic',
  open: async (model, { env }) => {
    const sdk = createAnthropic(anthropicAccess(env, `anthropic:${model}`))
    return {
      price: null,
      complete: createComplete({
        model: sdk(model),
        cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        optionsFor: claudeThinking,
      }),
    }
  },
}
