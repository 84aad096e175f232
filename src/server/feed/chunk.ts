import type { Frame } from './frame.ts'

/** Some frames in a row, for all clients that stand at the same place and want the same. */
export interface Chunk {
  /** null when nothing in it was for them. */
  readonly bytes: Uint8Array | null
  /** The place of whoever got it. */
  readonly upTo: number
  /** The stream of one task is over with it. */
  readonly isEnd: boolean
}

/** Takes frames until there is enough for one write; at least one, however large it is. */
export function chunkOf(
  frames: Iterable<Frame>,
  {
    maxBytes,
    whole,
    oneTask,
  }: { readonly maxBytes: number; readonly whole: number; readonly oneTask: boolean },
): Chunk {
  const taken: Uint8Array[] = []
  let bytes = 0
  let last = 0
  for (const frame of frames) {
    if (taken.length > 0 && bytes + frame.bytes.length > maxBytes)
      return { bytes: Buffer.concat(taken, bytes), upTo: last, isEnd: false }
    taken.push(frame.bytes)
    bytes += frame.bytes.length
    last = frame.id
    if (oneTask && frame.isEnd) return { bytes: Buffer.concat(taken, bytes), upTo: last, isEnd: true }
  }
  return {
    bytes: taken.length === 0 ? null : Buffer.concat(taken, bytes),
    upTo: Math.max(whole, last),
    isEnd: false,
  }
}
