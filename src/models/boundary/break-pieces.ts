import type { Fault } from './faults.ts'

export type Piece = Uint8Array | string

/** What to do next with a client: send a piece, let it wait for ever, or cut it off. */
export type Step =
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
