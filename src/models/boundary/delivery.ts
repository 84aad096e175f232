import { systemClock } from '../../io/clock.ts'
import type { Piece } from './break-pieces.ts'
import type { IncomingCall, Reply } from './contract.ts'
import type { EncodedReply } from './wire/contract.ts'

/** An answer, ready to be sent. */
export interface Delivery {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: Iterable<Piece> | AsyncIterable<Piece>
  /** Before the first byte. */
  readonly delayMs?: number
  /** Between the pieces. */
  readonly chunkDelayMs?: number
}

export function encodedDelivery({ status, headers, chunks }: EncodedReply): Delivery {
  return { status, headers, pieces: chunks }
}

export function deliveryOf(
  reply: Exclude<Reply, { readonly kind: 'mismatch' }>,
  { format, call, index }: IncomingCall,
): Delivery {
  switch (reply.kind) {
    case 'turn': {
      const { turn } = reply
      const created = Math.floor(systemClock.now().getTime() / 1_000)
      return {
        ...encodedDelivery(format.encode(turn, call, { id: `gantry${index}`, created })),
        ...(turn.delayMs !== undefined && { delayMs: turn.delayMs }),
        ...(turn.chunkDelayMs !== undefined && { chunkDelayMs: turn.chunkDelayMs }),
      }
    }
    case 'failure':
      return encodedDelivery(format.encodeFailure(reply.failure))
    case 'verbatim':
      return { status: reply.status, headers: reply.headers, pieces: reply.body }
  }
}

/** Of an agent that went away before it was answered, as proxies log it. Nobody receives it. */
export const abandoned: Delivery = { status: 499, headers: {}, pieces: [] }
