import { systemClock } from '../../io/clock.ts'
import type { LoopbackReply } from '../../io/loopback-server.ts'
import { retryAfterMs } from '../ai-sdk/retry-after.ts'
import { isSideRequest } from './answer-side-request.ts'
import type { ExchangeFacts, IncomingCall } from './contract.ts'
import { decide, type SessionState } from './decide.ts'
import { deliver } from './deliver.ts'
import { abandoned, type Delivery } from './delivery.ts'
import { messageOf } from './message-of.ts'

/** One call from its arrival to the last byte. */
export async function exchange(
  state: SessionState,
  incoming: IncomingCall,
  reply: LoopbackReply,
): Promise<ExchangeFacts> {
  const started = performance.now()
  const { format, call, index, signal } = incoming
  const { delivery, by, fault, settle } = await decide(state, incoming)
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
