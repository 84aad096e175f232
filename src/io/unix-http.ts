import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { errnoOf } from './fs-error.ts'

export interface UnixRequest {
  readonly socketPath: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  /** With its query, encoded. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** For a whole answer until its last byte; for a streamed one until its status. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export type Unreachable =
  /** `code` as the system names it: `ENOENT`, `ECONNREFUSED`, `EACCES`; `TIMEOUT` when nothing came in time. */
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string }
  | { readonly kind: 'aborted' }

export type UnixStream =
  | {
      readonly kind: 'stream'
      readonly status: number
      /** Settles with the last byte, or when the connection ends before it. Never rejects. */
      readonly ended: Promise<'whole' | 'cut'>
      /** Safe to call at any time. */
      close(): void
    }
  | Unreachable

/** One HTTP request over a Unix socket, answered whole. Never rejects. */
export async function askOverUnixHttp(
  asked: UnixRequest,
): Promise<{ readonly kind: 'answer'; readonly status: number; readonly body: string } | Unreachable> {
  const chunks: Buffer[] = []
  const late = AbortSignal.timeout(asked.timeoutMs)
  const signal = asked.signal === undefined ? late : AbortSignal.any([asked.signal, late])
  const stream = await streamOverUnixHttp({ ...asked, signal }, (chunk) => chunks.push(chunk))
  const end = stream.kind === 'stream' ? await stream.ended : 'whole'
  if (asked.signal?.aborted === true) return { kind: 'aborted' }
  if (late.aborted) return tooLate(asked.timeoutMs)
  if (stream.kind !== 'stream') return stream
  if (end === 'cut')
    return { kind: 'unreachable', code: 'ECONNRESET', message: 'it closed the connection during the answer' }
  return { kind: 'answer', status: stream.status, body: Buffer.concat(chunks).toString('utf8') }
}

/** One HTTP request over a Unix socket with a streamed answer. An abort closes it at any time. Never rejects. */
export function streamOverUnixHttp(
  { socketPath, method, path, body, timeoutMs, signal }: UnixRequest,
  onData: (chunk: Buffer) => void,
): Promise<UnixStream> {
  if (signal?.aborted === true) return Promise.resolve({ kind: 'aborted' })
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((settle) => {
    const outgoing = requestOver(
      { socketPath, method, path },
      text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    )
    const timer = setTimeout(() => {
      settle(tooLate(timeoutMs))
      outgoing.destroy()
    }, timeoutMs)
    const abort = (): void => {
      settle({ kind: 'aborted' })
      outgoing.destroy()
    }
    signal?.addEventListener('abort', abort, { once: true })
    outgoing.on('close', () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
    outgoing.on('error', (cause) =>
      settle({ kind: 'unreachable', code: errnoOf(cause) ?? '', message: cause.message }),
    )
    outgoing.on('response', (incoming) => {
      clearTimeout(timer)
      settle({
        kind: 'stream',
        status: incoming.statusCode ?? 0,
        ended: lastByteOf(incoming, onData),
        close: () => outgoing.destroy(),
      })
    })
    outgoing.end(text)
  })
}

/**
 * A connection for bytes in both directions: what the other side sends, and what is written to it. null when it refuses, or does not
 * answer in time. An abort closes it at any time.
 */
export function connectOverUnixHttp({
  timeoutMs,
  signal,
  ...asked
}: Omit<UnixRequest, 'body'>): Promise<Duplex | null> {
  if (signal?.aborted === true) return Promise.resolve(null)
  return new Promise((settle) => {
    const outgoing = requestOver(asked, { connection: 'Upgrade', upgrade: 'tcp' })
    const end = (): void => void outgoing.destroy()
    const timer = setTimeout(end, timeoutMs)
    signal?.addEventListener('abort', end, { once: true })
    outgoing
      .on('error', () => {})
      .on('response', end)
      .on('upgrade', (_, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        signal?.addEventListener('abort', () => socket.destroy(), { once: true })
        settle(socket.on('error', () => {}))
      })
      .on('close', () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        settle(null)
      })
      .end()
  })
}

function requestOver(
  { socketPath, method, path }: Pick<UnixRequest, 'socketPath' | 'method' | 'path'>,
  headers: OutgoingHttpHeaders,
): ClientRequest {
  // An import would also load `fetch`, which takes longer than most requests.
  const { request } = process.getBuiltinModule('node:http')
  // A new connection, because a killed engine leaves dead ones in a pool.
  return request({ socketPath, method, path, agent: false, headers: { host: 'localhost', ...headers } })
}

function lastByteOf(incoming: IncomingMessage, onData: (chunk: Buffer) => void): Promise<'whole' | 'cut'> {
  return new Promise((settle) => {
    incoming.on('data', onData)
    // `close` follows in every case.
    incoming.on('error', () => {})
    incoming.on('close', () => settle(incoming.complete ? 'whole' : 'cut'))
  })
}

function tooLate(timeoutMs: number): Unreachable {
  return { kind: 'unreachable', code: 'TIMEOUT', message: `no answer within ${timeoutMs} ms` }
}
