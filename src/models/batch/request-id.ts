import { contentHash } from '../../io/content-hash.ts'
import type { CompletionRequest } from '../provider.ts'

export type BatchRequest = Pick<
  CompletionRequest,
  'system' | 'messages' | 'maxOutputTokens' | 'temperature' | 'effort'
>

/**
 * The same for the same question, so that a later process finds the answer to it. Questions that are asked several times
 * want several answers: they are counted.
 */
export function createRequestIds(model: string): (request: BatchRequest) => string {
  const asked = new Map<string, number>()
  return ({ system, messages, maxOutputTokens, temperature, effort }) => {
    const hash = contentHash([
      model,
      system ?? '',
      JSON.stringify(messages),
      String(maxOutputTokens),
      String(temperature),
      ...(effort === undefined ? [] : [effort]),
    ]).slice(0, 48)
    const count = (asked.get(hash) ?? 0) + 1
    asked.set(hash, count)
    return `${hash}-${count}`
  }
}
