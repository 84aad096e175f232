import type { LoopbackReply } from '../../io/loopback-server.ts'
import { aborted, waitUnless } from './abort.ts'
import { breakPieces, type Piece } from './break-pieces.ts'
import type { Delivery } from './delivery.ts'
import type { Fault } from './faults.ts'

export interface Receiver {
  readonly reply: LoopbackReply
  /** The client has gone away. */
  readonly gone: AbortSignal
  /** The session ends: what stands still on purpose is let go. */
  readonly closing: AbortSignal
  /** Sees what is sent, as it was before a fault changed it. */
  readonly onPiece: (piece: Piece) => void
}

/** They concern one connection, or a length that is not known any more. */
const notPassedOn = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
])

/** Settles when the answer has left, was broken on purpose or by its source, or the client has gone. */
export async function deliver(delivery: Delivery, fault: Fault | null, receiver: Receiver): Promise<void> {
  const { reply, gone, onPiece } = receiver
  const delayMs = (delivery.delayMs ?? 0) + (fault?.kind === 'slow_first_byte' ? fault.delayMs : 0)
  await waitUnless(gone, delayMs)
  reply.begin(delivery.status, headersOf(delivery, fault))
  if (!isList(delivery.pieces)) reply.flush()
  const chunkDelayMs = delivery.chunkDelayMs ?? 0
  let first = true
  for await (const step of breakPieces(heeding(delivery.pieces, gone), fault)) {
    if (gone.aborted) return
    if (step.kind === 'stall') {
      await Promise.race([aborted(gone), aborted(receiver.closing)])
      return reply.cut()
    }
    if (step.kind === 'cut') return reply.cut()
    if (!first && chunkDelayMs > 0) await waitUnless(gone, chunkDelayMs)
    first = false
    onPiece(step.original)
    await reply.write(step.piece)
  }
  await reply.end()
}

function headersOf({ headers }: Delivery, fault: Fault | null): Record<string, string> {
  const passed = Object.entries(headers).filter(([name]) => !notPassedOn.has(name.toLowerCase()))
  if (fault?.kind !== 'wrong_content_type') return Object.fromEntries(passed)
  const others = passed.filter(([name]) => name.toLowerCase() !== 'content-type')
  return { ...Object.fromEntries(others), 'content-type': fault.contentType }
}

function isList(pieces: Delivery['pieces']): pieces is Iterable<Piece> {
  return Symbol.iterator in pieces
}

/**
 * null where the source broke off: the client sees the same. Does not wait for a source that does not notice that its client
 * has gone.
 */
async function* heeding(pieces: Delivery['pieces'], gone: AbortSignal): AsyncGenerator<Piece | null> {
  if (isList(pieces)) {
    yield* pieces
    return
  }
  const source = pieces[Symbol.asyncIterator]()
  const left = aborted(gone)
  try {
    for (;;) {
      const next = await Promise.race([source.next().catch(() => null), left])
      if (next === null) yield null
      if (next === null || next === 'aborted' || next.done === true) return
      yield next.value
    }
  } finally {
    // Not waited for: a generator that is busy returns only when it is done.
    source.return?.().then(undefined, () => {})
  }
}
