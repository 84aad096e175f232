import type { EventsQuery, StoredTaskEvent } from '../../store/queue/contract.ts'
import type { Frame } from './frame.ts'

/** Where the events come from. */
export interface FeedSource {
  events(query: EventsQuery): readonly StoredTaskEvent[]
  lastEventId(): number
  watch(listener: () => void): () => void
  /** Whether anybody here may hear of this task. */
  isServed(taskId: string): boolean
  /** No event of it will come any more. */
  isOver(taskId: string): boolean
}

/** A client's side of a stream. */
export interface FeedSink {
  /** false: its buffers are full. Nothing more is written until `drained` is called. */
  write(bytes: Uint8Array): boolean
  /** Written, and not yet taken off us by the system. */
  readonly pendingBytes: number
  /** After what was written. */
  end(): void
  destroy(): void
}

export interface Subscription {
  /** The sink took everything. */
  drained(): void
  /** The client is gone. */
  close(): void
}

/**
 * One reader of the feed for any number of clients. Each has a place of its own in the feed, and nothing waits for it: a client
 * whose buffers are full is left alone until they are empty, then gets what it missed from the ring or from the database.
 */
export interface FanOut {
  subscribe(sink: FeedSink, filter: FeedFilter, afterId: number): Subscription
  readonly clients: number
  /** What all clients together have yet to take. Bounded by one write for each. */
  readonly pendingBytes: number
  /** What is kept for those that come later. */
  readonly ringBytes: number
  /** Ends every stream. */
  close(): void
}

export interface FanOutLimits {
  readonly heartbeatMs: number
  /** A client that took nothing for so long is given up; it can come back and has lost nothing. */
  readonly stallMs: number
  readonly ringBytes: number
  /** Of one write. */
  readonly chunkBytes: number
  /** Events read from the database at once. */
  readonly page: number
}

/** What a client wants to hear of. */
export interface FeedFilter {
  /** Of one task only. */
  readonly taskId?: string
  /** `detail` is everything, milestones included. */
  readonly level: 'milestone' | 'detail'
}

export function passes({ taskId, level }: FeedFilter, frame: Pick<Frame, 'taskId' | 'level'>): boolean {
  if (taskId !== undefined && taskId !== frame.taskId) return false
  return level === 'detail' || frame.level === 'milestone'
}

/** Clients with the same one get the same bytes. */
export function filterKey({ taskId, level }: FeedFilter): string {
  return `${level} ${taskId ?? ''}`
}
