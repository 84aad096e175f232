import { systemClock } from '../../io/clock.ts'
import type { LoopbackReply } from '../../io/loopback-server.ts'
import type { IncomingCall, Reply } from './contract.ts'
import type { Fault } from './faults.ts'
import { aborted, waitUnlessAborted } from './wait-unless-aborted.ts'
import type { EncodedReply } from './wire/contract.ts'

export interface Receiver {
  readonly reply: LoopbackReply
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal
  /** Aborted when the session ends: releases stalled answers. */
  readonly closing: AbortSignal
  /** Gets the sent pieces before a fault changes them. */
  readonly onPiece: (piece: Piece) => void
}

export const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** They describe one connection, or a length that may no longer be right. */
const notPassedOn = new Set([...hopByHop, 'content-length'])

/** Resolves when the answer is sent, was broken by a fault or its source, or the client has disconnected. */
export async function deliver(delivery: Delivery, fault: Fault | null, receiver: Receiver): Promise<void> {
  const { reply, gone, onPiece } = receiver
  const delayMs = (delivery.delayMs ?? 0) + (fault?.kind === 'slow_first_byte' ? fault.delayMs : 0)
  await waitUnlessAborted(gone, delayMs)
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
    if (!first && chunkDelayMs > 0) await waitUnlessAborted(gone, chunkDelayMs)
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

/** Yields null where the source failed: the client sees the same. Does not wait for a source that ignores a disconnected client. */
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
    // Not awaited: a busy generator returns only when it is done.
    source.return?.().then(undefined, () => {})
  }
}

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

/** The status that proxies log for a client that disconnected before the answer. It is never sent. */
export const abandoned: Delivery = { status: 499, headers: {}, pieces: [] }

export type Piece = Uint8Array | string

/** The next step for a client: send a piece, stall, or cut the connection. */
type Step =
  | { readonly kind: 'send'; readonly piece: Piece; readonly original: Piece }
  | { readonly kind: 'stall' }
  | { readonly kind: 'cut' }

/**
 * An answer with a fault applied; null where its source failed. An answer that is shorter than the fault expects
 * stalls, or is cut, at its end.
 */
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

/** Text is cut between two characters, or inside one. */
function firstHalf(piece: Piece): Uint8Array {
  const bytes = bytesOf(piece)
  return bytes.subarray(0, Math.ceil(bytes.length / 2))
}

/** Breaks the JSON of an event and keeps its frame. null when it has no JSON. */
function withoutBrace(piece: Piece): Uint8Array | null {
  const bytes = bytesOf(piece)
  const brace = bytes.lastIndexOf(closingBrace)
  return brace === -1 ? null : Buffer.concat([bytes.subarray(0, brace), bytes.subarray(brace + 1)])
}

const closingBrace = 0x7d

function bytesOf(piece: Piece): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece)
}
