import { monotonicMs } from '../../io/clock.ts'
import {
  type FanOut,
  type FanOutLimits,
  type FeedFilter,
  type FeedSink,
  type FeedSource,
  filterKey,
  passes,
} from './contract.ts'
import { type Chunk, chunkOf, type Frame, frameOf, heartbeat, preamble } from './frame.ts'

export const fanOutLimits: FanOutLimits = {
  heartbeatMs: 15_000,
  stallMs: 60_000,
  ringBytes: 8 * 1024 * 1024,
  chunkBytes: 128 * 1024,
  page: 500,
}

interface Client {
  readonly sink: FeedSink
  readonly filter: FeedFilter
  readonly key: string
  /** Everything up to this id was written or filtered out. */
  cursor: number
  /** When its buffers became full; null when they are not. */
  fullSince: number | null
  writtenAt: number
}

/** Longest wait between two rounds. */
const maxGapMs = 100
/** A round that takes longer reads no more pages for clients that are behind. */
const sliceMs = 10
const chunksKept = 32
const retryMs = 1_000

export function openFanOut(
  source: FeedSource,
  onProblem: (error: unknown) => void,
  limits: FanOutLimits = fanOutLimits,
): FanOut {
  const { heartbeatMs, stallMs, chunkBytes, page } = limits
  let tail = source.lastEventId()
  const ring = createRing(tail, limits.ringBytes)
  const clients = new Set<Client>()
  /** Clients whose position is no longer in the ring. */
  const behind = new Set<Client>()
  const chunks = new Map<string, Chunk>()
  /** Tasks that had ended before the feed was last read to its end. */
  const over = new Set<string>()
  let isAtEnd = true
  /** Size of one event, from the last page. */
  let usualBytes = 200
  let timer: NodeJS.Timeout | null = null
  let restUntil = 0
  let isClosed = false

  const schedule = (waitMs = restUntil - monotonicMs()): void => {
    if (!isClosed) timer ??= setTimeout(run, Math.max(0, waitMs))
  }
  const leave = (client: Client): void => {
    clients.delete(client)
    behind.delete(client)
  }
  const finish = (client: Client): void => {
    leave(client)
    client.sink.end()
  }
  const write = (client: Client, bytes: Uint8Array): void => {
    client.writtenAt = monotonicMs()
    client.fullSince = client.sink.write(bytes) ? null : client.writtenAt
  }
  const take = (client: Client, make: () => Chunk): void => {
    const key = `${client.cursor} ${client.key}`
    let chunk = chunks.get(key)
    if (chunk === undefined) {
      chunk = make()
      if (chunks.size >= chunksKept) chunks.clear()
      chunks.set(key, chunk)
    }
    client.cursor = chunk.upTo
    if (chunk.bytes !== null) write(client, chunk.bytes)
    if (chunk.isEnd) finish(client)
  }
  const isWaiting = (client: Client): boolean =>
    clients.has(client) && client.fullSince === null && client.cursor < tail

  /** Writes from the ring until the client's buffers are full. */
  const deliver = (client: Client): void => {
    while (isWaiting(client)) {
      if (client.cursor < ring.floor) {
        behind.add(client)
        return
      }
      const { cursor, filter } = client
      take(client, () =>
        chunkOf(ring.after(cursor, filter), {
          maxBytes: chunkBytes,
          whole: tail,
          oneTask: filter.taskId !== undefined,
        }),
      )
    }
    const { taskId } = client.filter
    const isOver = taskId !== undefined && isAtEnd && over.has(taskId)
    if (isOver && clients.has(client) && client.cursor >= tail) finish(client)
  }

  /** Writes one page from the database. */
  const catchUp = (client: Client): void => {
    const { cursor: afterId, filter } = client
    const { taskId, level } = filter
    take(client, () => {
      // Not many more than fit into one write.
      const limit = Math.min(page, Math.ceil(chunkBytes / usualBytes))
      const found = source.events({
        afterId,
        limit,
        ...(taskId !== undefined && { taskId }),
        ...(level === 'milestone' && { level }),
      })
      const last = found.at(-1)?.id ?? afterId
      // A page that is not full reaches the end of the feed, so at least the reader's position.
      const whole = found.length < limit ? Math.max(tail, last) : last
      const frames = found.filter((event) => source.isServed(event.taskId)).map(frameOf)
      const bytes = frames.reduce((sum, frame) => sum + frame.bytes.length, 0)
      if (frames.length > 0) usualBytes = bytes / frames.length
      return chunkOf(frames, { maxBytes: chunkBytes, whole, oneTask: taskId !== undefined })
    })
    if (isWaiting(client) && client.cursor < ring.floor) return
    behind.delete(client)
    deliver(client)
  }

  const readOn = (): void => {
    const followed = new Set([...clients].flatMap(({ filter: { taskId } }) => taskId ?? []))
    const ended = [...followed].filter((taskId) => source.isOver(taskId))
    const found = source.events({ afterId: tail, limit: page })
    for (const event of found) if (source.isServed(event.taskId)) ring.push(frameOf(event))
    tail = found.at(-1)?.id ?? tail
    isAtEnd = found.length < page
    over.clear()
    for (const taskId of ended) over.add(taskId)
  }

  const round = (): void => {
    const began = monotonicMs()
    const used = process.cpuUsage()
    chunks.clear()
    readOn()
    for (const client of clients) if (!behind.has(client)) deliver(client)
    for (const client of [...behind]) {
      if (isWaiting(client)) catchUp(client)
      else behind.delete(client)
      // Back to the end of the queue, so a client far behind does not delay the others.
      if (behind.delete(client)) behind.add(client)
      if (monotonicMs() - began > sliceMs) break
    }
    // Pause for half the duration of the round. Under load one write then has more events.
    const { user, system } = process.cpuUsage(used)
    restUntil = monotonicMs() + Math.min((user + system) / 2_000, maxGapMs)
    if (!isAtEnd || behind.size > 0) schedule(isAtEnd ? 0 : undefined)
  }

  function run(): void {
    timer = null
    try {
      round()
    } catch (error) {
      onProblem(error)
      schedule(retryMs)
    }
  }

  const beat = (): void => {
    const now = monotonicMs()
    for (const client of clients) {
      if (client.fullSince !== null) {
        if (now - client.fullSince < stallMs) continue
        leave(client)
        client.sink.destroy()
      } else if (now - client.writtenAt >= heartbeatMs / 2) write(client, heartbeat)
    }
  }
  const pulse = setInterval(beat, Math.min(heartbeatMs, stallMs))
  const unwatch = source.watch(() => schedule())

  return {
    subscribe(sink, filter, afterId) {
      if (isClosed) {
        sink.end()
        return { drained: () => {}, close: () => {} }
      }
      const client: Client = {
        sink,
        filter,
        key: filterKey(filter),
        cursor: afterId,
        fullSince: null,
        writtenAt: 0,
      }
      clients.add(client)
      write(client, preamble(afterId))
      schedule()
      return {
        drained: () => {
          if (client.fullSince === null) return
          client.fullSince = null
          if (clients.has(client) && client.cursor < tail) schedule()
        },
        close: () => leave(client),
      }
    },
    get clients() {
      return clients.size
    },
    get pendingBytes() {
      return [...clients].reduce((sum, { sink }) => sum + sink.pendingBytes, 0)
    },
    get ringBytes() {
      return ring.bytes
    },
    close() {
      isClosed = true
      unwatch()
      clearInterval(pulse)
      if (timer !== null) clearTimeout(timer)
      for (const client of clients) finish(client)
    },
  }
}

/** The last frames, within a size limit, so clients that are a little behind need no database read. */
function createRing(floor: number, maxBytes: number) {
  const frames: Frame[] = []
  let bytes = 0
  let lowest = floor
  /** How many are dropped at once, because moving the rest for each one is slow. */
  const evict = (): void => {
    let count = 0
    while (bytes > maxBytes * 0.9 && count < frames.length) {
      const frame = frames[count]
      bytes -= frame?.bytes.length ?? 0
      lowest = frame?.id ?? lowest
      count += 1
    }
    frames.splice(0, count)
  }
  return {
    push(frame: Frame): void {
      frames.push(frame)
      bytes += frame.bytes.length
      if (bytes > maxBytes) evict()
    },
    /** The ring has every frame after this id. */
    get floor() {
      return lowest
    },
    get bytes() {
      return bytes
    },
    /** In order of id. */
    *after(id: number, filter: FeedFilter): Generator<Frame> {
      for (let at = firstAfter(frames, id); at < frames.length; at += 1) {
        const frame = frames[at]
        if (frame !== undefined && passes(filter, frame)) yield frame
      }
    },
  }
}

function firstAfter(frames: readonly Frame[], id: number): number {
  let [low, high] = [0, frames.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((frames[middle]?.id ?? 0) > id) high = middle
    else low = middle + 1
  }
  return low
}
