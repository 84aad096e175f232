import type { LoopbackReply, LoopbackRequest } from '../../io/loopback-server.ts'
import { builtInPrices } from '../prices.ts'
import { waitUnless } from './abort.ts'
import type { BoundarySession, IncomingCall, SessionOptions } from './contract.ts'
import type { SessionState } from './decide.ts'
import { exchange } from './exchange.ts'
import { createMeter } from './meter.ts'
import { readCall } from './read-call.ts'
import { sendFailure } from './send-failure.ts'
import type { WireFormat, WireRoute } from './wire/contract.ts'

/** A request that has been let in and belongs to a format. */
export interface Arrival {
  readonly format: WireFormat
  readonly route: WireRoute
  readonly request: LoopbackRequest
  readonly reply: LoopbackReply
  /** Without the token, with its query. */
  readonly path: string
  /** Without the token. */
  readonly headers: Readonly<Record<string, string>>
}

/** A session, wherever it can be reached. */
export interface SessionCore extends Omit<BoundarySession, 'endpoint'> {
  take(arrival: Arrival): Promise<void>
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

  const serve = async (arrival: Arrival): Promise<void> => {
    const { format, request, reply, path, headers } = arrival
    const read = await readCall(format, arrival.route, request)
    if (read.kind === 'gone') return
    if (read.kind === 'bad') return sendFailure(format, read.failure, reply)
    const { call, body } = read
    // The body has been unpacked, and says so.
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
      await waitUnless(ended.signal, underWay.size === 0 ? 0 : closeGraceMs)
      for (const reply of underWay.keys()) reply.destroy()
      await all
    },
  }
}
