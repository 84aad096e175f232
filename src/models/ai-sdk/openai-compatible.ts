import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Provider } from '../provider.ts'
import { compatibleAccess } from './access.ts'
import { createComplete } from './complete.ts'
import { isStrictSchema } from './strict-schema.ts'

/** `openai-compatible:model`, any server that speaks Chat Completions: vLLM, llama.cpp, Ollama, a gateway. */
export const openaiCompatible: Provider = {
  name: 'openai-compatible',
  open: async (model, { env }) => {
    const sdk = createOpenAICompatible({
      name: 'compatible',
      supportsStructuredOutputs: true,
      ...compatibleAccess(env),
    })
    return {
      price: null,
      complete: createComplete({
        model: sdk(model),
        optionsFor: ({ answerSchema }) => ({
          compatible: { strictJsonSchema: isStrictSchema(answerSchema) },
        }),
      }),
    }
  },
}
