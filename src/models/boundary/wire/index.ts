import type { Api } from '../contract.ts'
import { anthropic } from './anthropic.ts'
import type { WireFormat } from './contract.ts'
import { gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

export const wireFormats: readonly WireFormat[] = [openaiChat, openaiResponses, anthropic, gemini]

/**
 * The format of a request; null when it is unknown. `path` without the token and without the query. Several APIs list
 * their models under the same path: there the header that each client sends decides, and without one the first format.
 */
export function routeCall(method: string, path: string, headers: Readonly<Record<string, unknown>> = {}) {
  const matches = wireFormats.flatMap((format) => {
    const route = format.route(method, path)
    return route === null ? [] : [{ format, route }]
  })
  const spoken = apiOf(headers)
  return matches.find(({ format }) => format.api === spoken) ?? matches[0] ?? null
}

/** Header names are in lower case, as in Node. */
function apiOf(headers: Readonly<Record<string, unknown>>): Api | null {
  if (headers['anthropic-version'] !== undefined) return 'anthropic'
  if (headers['x-goog-api-key'] !== undefined) return 'gemini'
  return null
}
