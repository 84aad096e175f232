import { systemClock } from '../../io/clock.ts'
import type { LoopbackReply } from '../../io/loopback-server.ts'
import { aborted, waitUnless } from './abort.ts'
import type { IncomingCall, Reply } from './contract.ts'
import type { Fault } from './faults.ts'
import type { EncodedReply } from './wire/contract.ts'

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

export type Piece = Uint8Array | string

/** What to do next with a client: send a piece, let it wait for ever, or cut it off. */
type Step =
  | { readonly kind: 'send'; readonly piece: Piece; readonly original: Piece }
  | { readonly kind: 'stall' }
  | { readonly kind: 'cut' }

/** An answer as a fault lets it through; null is where its source broke off. An answer that is shorter than the fault expects stalls, or is cut, at its end. */
export async function* breakPieces(
  pieces: AsyncIterable<Piece | null>,
  fault: Fault | null,
): AsyncGenerator<Step> {
  let at = 0
  let broken = false
  for await (const piece of pieces) {
    if (piece === null) return yield { kind: 'cut' }
    if (fault?.kind === 'stall' && at === fault.afterChunks) return yield { kind: 'stall' }
    if (fault?.kind === 'cut' && at === fault.afterChunks) {
      const half = firstHalf(piece)
      yield { kind: 'send', piece: half, original: half }
      return yield { kind: 'cut' }
    }
    const spoiled: Piece | null =
      fault?.kind === 'malformed_chunk' && !broken && at >= fault.atChunk ? withoutBrace(piece) : null
    broken ||= spoiled !== null
    yield { kind: 'send', piece: spoiled ?? piece, original: piece }
    at += 1
  }
  if (fault?.kind === 'stall') yield { kind: 'stall' }
  if (fault?.kind === 'cut') yield { kind: 'cut' }
}

/** Text is cut between two of its characters, or in one of them. */
function firstHalf(piece: Piece): Uint8Array {
  const bytes = bytesOf(piece)
  return bytes.subarray(0, Math.ceil(bytes.length / 2))
}

/** The frame of an event stays whole, its JSON does not. null when there is none in it. */
function withoutBrace(piece: Piece): Uint8Array | null {
  const bytes = bytesOf(piece)
  const brace = bytes.lastIndexOf(closingBrace)
  return brace === -1 ? null : Buffer.concat([bytes.subarray(0, brace), bytes.subarray(brace + 1)])
}

const closingBrace = 0x7d

function bytesOf(piece: Piece): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece)
}
