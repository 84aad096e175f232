import { createGoogle } from '@ai-sdk/google'
import type { Provider } from '../provider.ts'
import { googleAccess } from './access.ts'
import { createComplete } from './complete.ts'
import { geminiThinking } from './messages.ts'

/** `google:gemini-…`, by the Gemini API. */
export const google: Provider = {
  name: 'google',
  open: async (model, { env }) => {
    const sdk = createGoogle(googleAccess(env, `google:${model}`))
    return {
      price: null,
      complete: createComplete({
        model: sdk(model),
        optionsFor: (request) => geminiThinking(model, request),
      }),
    }
  },
}
