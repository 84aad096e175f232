import { ask, type ModelParts } from './ask.ts'
import type { Model } from './contract.ts'
import { loop } from './loop.ts'
import { type AskText, structured } from './structured.ts'

/** Puts budget, time limit, retries, schema and tools around a provider's single call. */
export function createModel(parts: ModelParts): Model {
  const text: AskText = async ({ prompt, ...request }) => {
    const { turn, ...usage } = await ask(parts, { ...request, messages: [{ role: 'user', text: prompt }] })
    return { value: turn.text, ...usage }
  }
  return {
    name: parts.name,
    text,
    structured: (request) => structured(text, request),
    loop: (request) => loop((question) => ask(parts, question), parts.name, request),
  }
}
