import type { EventLevel, StoredTaskEvent } from '../../store/queue/contract.ts'

/** One event of the feed as it goes over the wire, made once for everybody. */
export interface Frame {
  readonly id: number
  readonly taskId: string
  readonly level: EventLevel
  /** Nothing comes after it in the stream of its task. */
  readonly isEnd: boolean
  readonly bytes: Uint8Array
}

export function frameOf({ id, taskId, level, event }: StoredTaskEvent): Frame {
  // A kind is a word. Whatever else stands there must not begin a line of its own.
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
 * What a stream begins with: how long to wait before coming back, and the place it starts from. A client that is cut off
 * before its first event then still knows where it was.
 */
export function preamble(afterId: number): Uint8Array {
  return Buffer.from(`retry: 2000\nid: ${afterId}\n\n`)
}

/** A comment: keeps connections open, and finds out those that are dead. */
export const heartbeat: Uint8Array = Buffer.from(':\n\n')

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
