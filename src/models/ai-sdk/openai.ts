import { createOpenAI } from '@ai-sdk/openai'
import type { Provider } from '../provider.ts'
import { openaiAccess } from './access.ts'
import { createComplete } from './complete.ts'
import { isStrictSchema } from './strict-schema.ts'

/** `openai:gpt-…`, by the Responses API. Nothing is stored there: every call brings the whole conversation with it. */
export const openai: Provider = {
  name: 'openai',
  open: async (model, { env }) => {
    const sdk = createOpenAI(openaiAccess(env, `openai:${model}`))
    return {
      price: null,
      complete: createComplete({
        model: sdk(model),
        // The API would make a schema strict by itself, and with it every optional key required.
        strictTools: false,
        optionsFor: ({ answerSchema }) => ({
          openai: { store: false, strictJsonSchema: isStrictSchema(answerSchema) },
        }),
      }),
    }
  },
}
