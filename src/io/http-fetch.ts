import { errnoOf } from './fs-error.ts'

export interface OutgoingRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Until the status arrives. The body has no time limit. */
  readonly firstByteTimeoutMs: number
  readonly signal: AbortSignal
}

export type Fetched =
  | {
      readonly kind: 'answer'
      readonly status: number
      /** Names in lower case. Transport headers are left out, because the body is decompressed. */
      readonly headers: Readonly<Record<string, string>>
      /** As it arrives. Throws when the stream is cut. */
      readonly body: AsyncIterable<Uint8Array>
    }
  /** `message` has the host and the reason, but nothing of the request, which may contain a key. */
  | { readonly kind: 'unreachable'; readonly message: string }

const aboutTransport = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection'])

/** Sends one request, without retries or redirects, so a key reaches only its host. */
export async function httpFetch(request: OutgoingRequest): Promise<Fetched> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), request.firstByteTimeoutMs)
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: { ...request.headers, 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, late.signal]),
      ...(request.body !== undefined && { body: Uint8Array.from(request.body) }),
    })
    return {
      kind: 'answer',
      status: response.status,
      headers: Object.fromEntries([...response.headers].filter(([name]) => !aboutTransport.has(name))),
      body: response.body ?? new Blob([]).stream(),
    }
  } catch (cause) {
    const reason = late.signal.aborted ? `no answer within ${request.firstByteTimeoutMs} ms` : reasonOf(cause)
    return {
      kind: 'unreachable',
      message: `${URL.parse(request.url)?.host ?? 'the address'} cannot be reached: ${reason}`,
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Messages of `fetch` repeat addresses and header values, so only the code of an error is shown. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  const code = errnoOf(inner) ?? errnoOf(cause)
  if (code !== undefined) return code
  if (cause instanceof Error && cause.name === 'AbortError') return 'stopped'
  return 'the request could not be sent'
}
