// The clients of bench/sse.ts, in their own process. All must get the same bytes: the first client writes the record, the others
// are compared with it, and at the end the record itself is read event by event.
import { connect } from 'node:net'

export interface SseReport {
  readonly kind: 'report'
  /** Clients that got every event, once and in order. */
  readonly complete: number
  /** Clients whose bytes differ. */
  readonly wrong: number
  readonly cpuMs: number
  readonly bytes: number
}

interface Order {
  readonly port: number
  readonly token: string
  readonly clients: number
  readonly firstId: number
  readonly total: number
  readonly graceMs: number
}

interface Watcher {
  /** In the body; -1 until the head ends. */
  at: number
  isWrong: boolean
}

const order: Order = JSON.parse(process.argv[2] ?? '{}')
const record = Buffer.alloc(64 * 1024 * 1024)
/** Shared by all clients: a chunk is checked before the next one arrives. */
const received = Buffer.alloc(512 * 1024)
let recorded = 0
let bytes = 0
/** Where the last event of all ends in the record; null until a client received it. */
let end: number | null = null
let reported = false

const watchers = await Promise.all(Array.from({ length: order.clients }, open))
const cpuBefore = process.cpuUsage()
process.send?.({ kind: 'ready' })
process.on('message', () => {
  setTimeout(report, order.graceMs)
  setInterval(() => {
    if (watchers.every(({ at, isWrong }) => isWrong || at === end)) report()
  }, 20)
})

function open(): Promise<Watcher> {
  return new Promise((done, fail) => {
    const watcher: Watcher = { at: -1, isWrong: false }
    const begin = (chunk: Buffer): void => {
      const blank = chunk.indexOf('\r\n\r\n')
      if (chunk.toString('latin1', 0, 12) !== 'HTTP/1.1 200' || blank === -1) {
        fail(new Error(`no stream: ${chunk.toString('utf8', 0, 300)}`))
        return
      }
      watcher.at = 0
      check(watcher, chunk.subarray(blank + 4))
      done(watcher)
    }
    const socket = connect({
      port: order.port,
      host: '127.0.0.1',
      onread: {
        buffer: received,
        callback: (size) => {
          const chunk = received.subarray(0, size)
          if (watcher.at === -1) begin(chunk)
          else check(watcher, chunk)
          return true
        },
      },
    })
    socket.on('error', fail)
    socket.write(
      `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\nAuthorization: Bearer ${order.token}\r\n\r\n`,
    )
  })
}

function check(watcher: Watcher, chunk: Buffer): void {
  bytes += chunk.length
  const known = Math.min(chunk.length, recorded - watcher.at)
  if (known > 0 && chunk.compare(record, watcher.at, watcher.at + known, 0, known) !== 0)
    watcher.isWrong = true
  if (known < chunk.length) {
    recorded += chunk.copy(record, recorded, known)
    const last = record.lastIndexOf(`id: ${order.firstId + order.total - 1}\n`, recorded)
    if (last !== -1 && record.toString('latin1', recorded - 2, recorded) === '\n\n') end = recorded
  }
  watcher.at += chunk.length
}

function report(): void {
  if (reported) return
  reported = true
  const ids = [...record.toString('utf8', 0, recorded).matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) =>
    Number(id),
  )
  const isWhole = ids.length === order.total && ids.every((id, n) => id === order.firstId + n)
  const { user, system } = process.cpuUsage(cpuBefore)
  const answer: SseReport = {
    kind: 'report',
    complete: isWhole ? watchers.filter(({ at, isWrong }) => !isWrong && at === recorded).length : 0,
    wrong: watchers.filter(({ isWrong }) => isWrong).length,
    cpuMs: (user + system) / 1_000,
    bytes,
  }
  process.send?.(answer)
}
