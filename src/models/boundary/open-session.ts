import { parseJson } from '../../core/json-fields.ts'
import { systemClock } from '../../io/clock.ts'
import type { LoopbackReply, LoopbackRequest } from '../../io/loopback-server.ts'
import { unpackBody } from '../../io/unpack-body.ts'
import { retryAfterMs } from '../ai-sdk/retry-after.ts'
import { builtInPrices } from '../prices.ts'
import { chooseReply, type SessionState } from './choose-reply.ts'
import type {
  BoundarySession,
  ExchangeFacts,
  IncomingCall,
  ModelCall,
  SessionOptions,
  WireFailure,
} from './contract.ts'
import { abandoned, type Delivery, deliver } from './deliver.ts'
import { createMeter } from './meter.ts'
import { isSideRequest } from './model-call.ts'
import { messageOf, waitUnlessAborted } from './wait-unless-aborted.ts'
import type { WireFormat, WireRoute } from './wire/contract.ts'
import { jsonReply } from './wire/json.ts'

/** An authenticated request in a known API format. */
export interface AuthorisedRequest {
  readonly format: WireFormat
  readonly route: WireRoute
  readonly request: LoopbackRequest
  readonly reply: LoopbackReply
  /** Without the token, with its query. */
  readonly path: string
  /** Without the token. */
  readonly headers: Readonly<Record<string, string>>
}

export interface SessionCore extends Omit<BoundarySession, 'endpoint'> {
  take(arrival: AuthorisedRequest): Promise<void>
}

export function openSession(options: SessionOptions, closeGraceMs: number): SessionCore {
  const stopped = new AbortController()
  const closing = new AbortController()
  const underWay = new Map<LoopbackReply, Promise<void>>()
  const meter = createMeter([options.prices ?? {}, builtInPrices], options.budget)
  const modelsSeen = new Set<string>()
  let over: string | null = null
  let problem: string | null = null
  let arrived = 0
  let breakable = 0
  let exchanges = 0

  const state: SessionState = {
    options,
    meter,
    closing: closing.signal,
    over: () => over,
    stop(reason, why) {
      over ??= why
      if (reason === 'mismatch') problem ??= why
      stopped.abort(reason)
    },
    nextFaultIndex: () => breakable++,
    modelsSeen: () => [...modelsSeen],
  }

  const serve = async (arrival: AuthorisedRequest): Promise<void> => {
    const { format, request, reply, path, headers } = arrival
    const read = await readCall(format, arrival.route, request)
    if (read.kind === 'gone') return
    if (read.kind === 'bad') return sendFailure(format, read.failure, reply)
    const { call, body } = read
    // The body is decompressed, so the headers must not declare an encoding.
    const { 'content-encoding': _, ...rest } = headers
    const http = { method: request.method, path, headers: rest, body }
    const incoming: IncomingCall = { index: arrived++, format, call, http, signal: request.signal }
    if (call.model !== '') modelsSeen.add(call.model)
    const facts = await exchange(state, incoming, reply)
    exchanges += 1
    options.onExchange?.(facts)
  }

  return {
    stopped: stopped.signal,
    report: () => ({ exchanges, usage: meter.rows(), costUsd: meter.costUsd(), problem }),
    async take(arrival) {
      const served = serve(arrival).finally(() => underWay.delete(arrival.reply))
      underWay.set(arrival.reply, served)
      await served
    },
    async close() {
      closing.abort()
      const ended = new AbortController()
      const all = Promise.allSettled(underWay.values()).finally(() => ended.abort())
      await waitUnlessAborted(ended.signal, underWay.size === 0 ? 0 : closeGraceMs)
      for (const reply of underWay.keys()) reply.destroy()
      await all
    },
  }
}

/** One call from its arrival to the last byte. */
async function exchange(
  state: SessionState,
  incoming: IncomingCall,
  reply: LoopbackReply,
): Promise<ExchangeFacts> {
  const started = performance.now()
  const { format, call, index, signal } = incoming
  const { delivery, by, fault, settle } = await chooseReply(state, incoming)
  const reader = isSideRequest(call.kind) ? null : format.createReader(contentTypeOf(delivery))
  try {
    await deliver(delivery, fault, {
      reply,
      gone: signal,
      closing: state.closing,
      onPiece: (piece) => reader?.push(piece),
    })
  } catch (cause) {
    reply.destroy()
    state.stop('mismatch', `an answer could not be sent: ${messageOf(cause)}`)
  }
  const answered = delivery === abandoned || delivery.status < 400
  const { tokens, costUsd } = settle({ reading: reader?.end() ?? null, answered })
  const waitMs = answered ? null : askedWaitMs(delivery)
  return {
    index,
    api: call.api,
    model: call.model,
    kind: call.kind,
    status: delivery.status,
    tokens,
    costUsd,
    durationMs: Math.round(performance.now() - started),
    by,
    ...(fault !== null && { fault: fault.kind }),
    ...(waitMs !== null && { retryAfterMs: waitMs }),
  }
}

function askedWaitMs({ headers }: Delivery): number | null {
  const responseHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return retryAfterMs({ responseHeaders }, systemClock.now().getTime())
}

function contentTypeOf({ headers }: Delivery): string {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
  return found?.[1] ?? ''
}

type ReadCall =
  | { readonly kind: 'call'; readonly call: ModelCall; readonly body: Uint8Array }
  | { readonly kind: 'bad'; readonly failure: WireFailure }
  /** The client disconnected before its request was complete. */
  | { readonly kind: 'gone' }

const maxUnpackedBytes = 256 * 1024 * 1024

/** Reads, decompresses and parses the body of a request. */
async function readCall(format: WireFormat, route: WireRoute, request: LoopbackRequest): Promise<ReadCall> {
  const body = await request.readBody().catch(() => 'gone' as const)
  if (body === 'gone') return { kind: 'gone' }
  if (body === null) return bad(413, 'The request is too large.')
  const unpacked = await unpackBody(body, request.headers['content-encoding'] ?? '', maxUnpackedBytes)
  if (unpacked === null) return bad(415, 'The body of the request cannot be unpacked.')
  const isEmpty = unpacked.length === 0 && request.method === 'GET'
  const value = isEmpty ? null : parseJson(new TextDecoder().decode(unpacked))
  if (value === undefined) return bad(400, 'The body of the request is not JSON.')
  return { kind: 'call', call: format.readCall(value, route), body: unpacked }
}

function bad(status: number, message: string): ReadCall {
  return { kind: 'bad', failure: { status, message } }
}

/** In the API format, or as plain JSON when there is none. */
export async function sendFailure(format: WireFormat | null, failure: WireFailure, reply: LoopbackReply) {
  const { status, headers, chunks } =
    format?.encodeFailure(failure) ?? jsonReply({ error: { message: failure.message } }, {}, failure)
  reply.begin(status, headers)
  for (const chunk of chunks) await reply.write(chunk)
  await reply.end()
}
