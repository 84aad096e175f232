import type { EventLevel, StoredTaskEvent } from '../../store/queue/contract.ts'

export interface Frame {
  readonly id: number
  readonly taskId: string
  readonly level: EventLevel
  /** The last event in the stream of its task. */
  readonly isEnd: boolean
  readonly bytes: Uint8Array
}

export function frameOf({ id, taskId, level, event }: StoredTaskEvent): Frame {
  // A kind with a line break would corrupt the stream.
  const kind = typeof event.kind === 'string' && /^\w+$/.test(event.kind) ? event.kind : 'message'
  return {
    id,
    taskId,
    level,
    isEnd: kind === 'task_ended',
    bytes: Buffer.from(`id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(event)}\n\n`),
  }
}

/**
 * The start of a stream: the retry delay and the id it starts from, so a client that is disconnected before its first event knows its
 * position.
 */
export function preamble(afterId: number): Uint8Array {
  return Buffer.from(`retry: 2000\nid: ${afterId}\n\n`)
}

/** A comment that keeps connections open and detects dead ones. */
export const heartbeat: Uint8Array = Buffer.from(':\n\n')

/** Consecutive frames for all clients at the same position with the same filter. */
export interface Chunk {
  /** null when no frame matched. */
  readonly bytes: Uint8Array | null
  /** The position after it. */
  readonly upTo: number
  /** It ends the stream of one task. */
  readonly isEnd: boolean
}

/** Takes enough frames for one write, at least one of any size. */
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
