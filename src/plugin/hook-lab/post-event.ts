import { httpFetch } from '../../io/http-fetch.ts'
import type { HandlerRun } from './contract.ts'

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const keptBytes = 256 * 1024

/** Whether a URL stays on this machine. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return false
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** The event sent to a handler of type http, which answers with the same JSON that a command prints. */
export async function postEvent({ url, headers, body, timeoutMs, signal }: PostRequest): Promise<HandlerRun> {
  const startedAt = performance.now()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const fetched = await httpFetch({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(body),
    firstByteTimeoutMs: timeoutMs,
    signal: limit,
  })
  const run = (ending: HandlerRun['ending'], stdout = '', stdoutBytes = 0): HandlerRun => ({
    ending,
    stdout,
    stdoutBytes,
    stderr: '',
    durationMs: performance.now() - startedAt,
    leftBehind: 0,
  })
  signal.throwIfAborted()
  if (fetched.kind === 'unreachable')
    return limit.aborted || performance.now() - startedAt >= timeoutMs
      ? run({ kind: 'timed_out', limitMs: timeoutMs })
      : run({ kind: 'unreachable', message: fetched.message })
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of fetched.body) {
      bytes += chunk.length
      if (text.length < keptBytes) text += decoder.decode(chunk, { stream: true })
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (limit.aborted) return run({ kind: 'timed_out', limitMs: timeoutMs })
    return run({
      kind: 'unreachable',
      message: `the answer was cut: ${cause instanceof Error ? cause.message : String(cause)}`,
    })
  }
  return run({ kind: 'answered', status: fetched.status }, text, bytes)
}
