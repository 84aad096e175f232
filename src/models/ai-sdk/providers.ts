import { isObject } from '../../core/json-fields.ts'
import type { Provider } from '../provider.ts'
import { anthropicAccess, compatibleAccess, googleAccess, openaiAccess } from './access.ts'
import { createComplete } from './complete.ts'
import { claudeThinking, geminiThinking } from './messages.ts'

/** `anthropic:claude-…`. */
export const anthropic: Provider = async (model, { env }) => {
  const { createAnthropic } = await import('@ai-sdk/anthropic')
  return {
    complete: createComplete({
      model: createAnthropic(anthropicAccess(env, `anthropic:${model}`))(model),
      cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
      optionsFor: claudeThinking,
    }),
  }
}

/** `google:gemini-…`, through the Gemini API. */
export const google: Provider = async (model, { env }) => {
  const { createGoogle } = await import('@ai-sdk/google')
  return {
    complete: createComplete({
      model: createGoogle(googleAccess(env, `google:${model}`))(model),
      optionsFor: (request) => geminiThinking(model, request),
    }),
  }
}

/** `openai:gpt-…`, through the Responses API. Nothing is stored there: every call sends the whole conversation. */
export const openai: Provider = async (model, { env }) => {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return {
    complete: createComplete({
      model: createOpenAI(openaiAccess(env, `openai:${model}`))(model),
      // By default the API makes a schema strict, which makes every optional key required.
      strictTools: false,
      optionsFor: ({ answerSchema }) => ({
        openai: { store: false, strictJsonSchema: isStrictSchema(answerSchema) },
      }),
    }),
  }
}

/** `openai-compatible:model`, any server with a Chat Completions API: vLLM, llama.cpp, Ollama, a gateway. */
export const openaiCompatible: Provider = async (model, { env }) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const access = compatibleAccess(env)
  return {
    complete: createComplete({
      model: createOpenAICompatible({ name: 'compatible', supportsStructuredOutputs: true, ...access })(
        model,
      ),
      optionsFor: ({ answerSchema }) => ({ compatible: { strictJsonSchema: isStrictSchema(answerSchema) } }),
    }),
  }
}

/**
 * Whether OpenAI accepts this schema in strict mode: every object must be closed and every key required. Other schemas
 * are sent without strict mode, and the model follows them less closely.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema)
  if (!isObject(schema)) return true
  if (schema.type === 'object' || 'properties' in schema) {
    const keys = isObject(schema.properties) ? Object.keys(schema.properties) : []
    const required = Array.isArray(schema.required) ? schema.required : []
    if (schema.additionalProperties !== false || keys.some((key) => !required.includes(key))) return false
  }
  // A property may itself be named `properties`.
  return Object.entries(schema).every(([keyword, value]) =>
    (keyword === 'properties' || keyword === '$defs') && isObject(value)
      ? Object.values(value).every(isStrictSchema)
      : isStrictSchema(value),
  )
}
