import type { EventsQuery, StoredTaskEvent } from '../../store/queue/contract.ts'
import type { Frame } from './frame.ts'

/** The source of the events. */
export interface FeedSource {
  events(query: EventsQuery): readonly StoredTaskEvent[]
  lastEventId(): number
  watch(listener: () => void): () => void
  /** Whether clients may see this task. */
  isServed(taskId: string): boolean
  /** Whether the task will have no more events. */
  isOver(taskId: string): boolean
}

/** The client of a stream. */
export interface FeedSink {
  /** Returns false when its buffers are full. Nothing more is written until `drained` is called. */
  write(bytes: Uint8Array): boolean
  /** Bytes written but not yet accepted by the system. */
  readonly pendingBytes: number
  /** Ends the stream after the pending bytes. */
  end(): void
  destroy(): void
}

export interface Subscription {
  /** The sink's buffers are empty again. */
  drained(): void
  /** The client is gone. */
  close(): void
}

/**
 * One reader of the feed for any number of clients. Each client has its own position, and a slow one delays no other: when its
 * buffers are full it gets nothing until they are empty, then everything it missed from the ring or the database.
 */
export interface FanOut {
  subscribe(sink: FeedSink, filter: FeedFilter, afterId: number): Subscription
  readonly clients: number
  /** Bytes pending for all clients. At most one write for each. */
  readonly pendingBytes: number
  /** Bytes kept for clients that are behind. */
  readonly ringBytes: number
  /** Ends every stream. */
  close(): void
}

export interface FanOutLimits {
  readonly heartbeatMs: number
  /** A client that reads nothing for this long is disconnected. It can reconnect without losing events. */
  readonly stallMs: number
  readonly ringBytes: number
  /** Size of one write. */
  readonly chunkBytes: number
  /** Events per database page. */
  readonly page: number
}

/** Which events a client wants. */
export interface FeedFilter {
  /** Only events of this task. */
  readonly taskId?: string
  /** `detail` includes milestones. */
  readonly level: 'milestone' | 'detail'
}

export function passes({ taskId, level }: FeedFilter, frame: Pick<Frame, 'taskId' | 'level'>): boolean {
  if (taskId !== undefined && taskId !== frame.taskId) return false
  return level === 'detail' || frame.level === 'milestone'
}

/** Clients with the same key get the same bytes. */
export function filterKey({ taskId, level }: FeedFilter): string {
  return `${level} ${taskId ?? ''}`
}
