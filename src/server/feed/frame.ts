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
