import { httpFetch } from '../../io/http-fetch.ts'
import { keyHeaders } from './authorise.ts'
import type { Responder } from './contract.ts'
import { hopByHop } from './deliver.ts'
import { providerOf } from './model-call.ts'

export type Upstream = ReturnType<typeof upstreamFrom>

export interface UpstreamApi {
  /** The base URL that clients of the provider use; OpenAI's ends in `/v1`. */
  readonly baseUrl: string
  /** The headers with the key. null when the agent has its own, as after a login. */
  readonly auth: Readonly<Record<string, string>> | null
}

/** Models may think for a long time before they answer. */
const firstByteTimeoutMs = 600_000

/** Forwards every request unchanged to the provider of its API. The agent never gets the key. */
export function createUpstreamResponder(upstream: Upstream): Responder {
  return {
    name: 'upstream',
    async answer({ call, http, signal }) {
      const provider = providerOf[call.api]
      const { baseUrl, auth } = upstream[provider]
      // Agents have `/v1` in their base URL for OpenAI, and the provider's base URL has it too.
      const path = provider === 'openai' ? http.path.replace(/^\/v1(?=\/)/, '') : http.path
      const answer = await httpFetch({
        method: http.method,
        url: forwardedAddress(baseUrl, path, auth !== null),
        headers: { ...forwardedHeaders(http.headers, auth !== null), ...auth },
        ...(http.body.length > 0 && { body: http.body }),
        firstByteTimeoutMs,
        signal,
      })
      if (answer.kind === 'unreachable')
        return { kind: 'failure', failure: { status: 502, message: answer.message } }
      return { kind: 'verbatim', status: answer.status, headers: answer.headers, body: answer.body }
    },
  }
}

/** The providers as configured for their own clients: addresses and keys from the environment, or public addresses. */
export function upstreamFrom(env: Readonly<Record<string, string | undefined>>) {
  const read = (name: string): string | null => env[name]?.trim() || null
  const anthropicKey = read('ANTHROPIC_API_KEY')
  const googleKey = read('GEMINI_API_KEY') ?? read('GOOGLE_API_KEY')
  return {
    anthropic: {
      baseUrl: read('ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com',
      auth: anthropicKey === null ? bearer(read('ANTHROPIC_AUTH_TOKEN')) : { 'x-api-key': anthropicKey },
    },
    openai: {
      baseUrl: read('OPENAI_BASE_URL') ?? 'https://api.openai.com/v1',
      auth: bearer(read('OPENAI_API_KEY') ?? read('CODEX_API_KEY')),
    },
    google: {
      baseUrl: read('GOOGLE_GEMINI_BASE_URL') ?? 'https://generativelanguage.googleapis.com',
      auth: googleKey === null ? null : { 'x-goog-api-key': googleKey },
    },
  }
}

export function hasKey(upstream: Upstream): boolean {
  return [upstream.anthropic, upstream.openai, upstream.google].some(({ auth }) => auth !== null)
}

function bearer(token: string | null): UpstreamApi['auth'] {
  return token === null ? null : { authorization: `Bearer ${token}` }
}

/** Connection headers and headers that are set again. */
const notForwarded = new Set([
  ...hopByHop,
  'host',
  'content-length',
  'accept-encoding',
  'expect',
  'proxy-connection',
])

/** The agent's headers to forward. Its own key is not sent next to ours. */
function forwardedHeaders(
  headers: Readonly<Record<string, string>>,
  withoutKeys: boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !notForwarded.has(name) && !(withoutKeys && keyHeaders.includes(name)),
    ),
  )
}

/** The target of a request; `path` begins with a slash and has its query. */
function forwardedAddress(baseUrl: string, path: string, withoutKeys: boolean): string {
  const address = baseUrl.replace(/\/+$/, '') + path
  if (!withoutKeys || !URL.canParse(address)) return address
  const url = new URL(address)
  if (!url.searchParams.has('key')) return address
  url.searchParams.delete('key')
  return url.href
}
