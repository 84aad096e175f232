import { join } from 'node:path'
import { parseJson } from '../../core/json-fields.ts'
import { fileStamp } from '../../io/directory.ts'
import { readLinesFrom } from '../../io/line-file.ts'
import type { Store } from '../../store/contract.ts'
import { parseRunId } from '../../store/run-id.ts'
import { runFile } from '../../store/run-paths.ts'
import { readRunRow } from '../../store/run-row.ts'
import { isRecord, trialRow } from '../../store/trial-record.ts'
import type { FeedSink, Subscription } from '../feed/contract.ts'
import { heartbeat, preamble } from '../feed/frame.ts'

/**
 * Clients that follow live runs. Every client has its own position in trials.jsonl, which is the id of its last event: nothing is kept
 * in memory for it, and it loses nothing when it reconnects or the server starts again.
 */
export interface RunFollowers {
  subscribe(sink: FeedSink, runId: string, from: number): Subscription
  close(): void
}

interface Client {
  readonly sink: FeedSink
  readonly runId: string
  position: number
  isFull: boolean
  writtenAt: number
}

const lookEveryMs = 250
const heartbeatMs = 15_000
const maxBytes = 256 * 1024

export function runFollowers(store: Store, onProblem: (error: unknown) => void): RunFollowers {
  const clients = new Set<Client>()
  /** Stamp of each followed run when it was last looked at. */
  const stamps = new Map<string, string>()
  let timer: NodeJS.Timeout | null = null

  const write = (client: Client, bytes: Uint8Array): void => {
    client.writtenAt = Date.now()
    client.isFull = !client.sink.write(bytes)
  }
  const end = (client: Client): void => {
    clients.delete(client)
    client.sink.end()
  }
  /** Writes one part of the log; false when there is no more. */
  const deliver = (client: Client): boolean => {
    const log = runFile.trialLog(join(store.runsDir, client.runId))
    const query = { from: client.position, maxLines: 500, maxBytes, maxLineBytes: 64 * maxBytes }
    const page = readLinesFrom(log, query)
    if (page === null || page.lines.length === 0) return false
    const frames = page.lines.map(({ offset, length, text }) =>
      frame(client.runId, offset + length + 1, text),
    )
    client.position = page.next
    write(client, Buffer.from(frames.join('')))
    return true
  }
  const look = (): void => {
    for (const [runId, ofRun] of Map.groupBy(clients, (client) => client.runId)) {
      const dir = join(store.runsDir, runId)
      const stamp = `${fileStamp(runFile.trialLog(dir))} ${fileStamp(runFile.manifest(dir))}`
      const parsed = parseRunId(runId)
      const changed = stamps.get(runId) !== stamp
      stamps.set(runId, stamp)
      // Asked before the rest of the log is read, so that nothing written before the end is missed.
      const row = parsed === null || !changed ? null : readRunRow(store, parsed)
      for (const client of ofRun) {
        if (client.isFull) continue
        while (!client.isFull && deliver(client));
        if (row?.live === false && !client.isFull) {
          write(client, Buffer.from(`event: run\ndata: ${JSON.stringify({ status: row.status })}\n\n`))
          end(client)
        } else if (Date.now() - client.writtenAt > heartbeatMs) write(client, heartbeat)
      }
    }
    for (const runId of stamps.keys())
      if (![...clients].some((client) => client.runId === runId)) stamps.delete(runId)
  }
  const run = (): void => {
    try {
      look()
    } catch (error) {
      onProblem(error)
    }
    timer = clients.size === 0 ? null : setTimeout(run, lookEveryMs)
  }
  return {
    subscribe(sink, runId, from) {
      const client: Client = { sink, runId, position: from, isFull: false, writtenAt: Date.now() }
      clients.add(client)
      stamps.delete(runId)
      write(client, preamble(from))
      timer ??= setTimeout(run, 0)
      return {
        drained: () => {
          client.isFull = false
        },
        close: () => void clients.delete(client),
      }
    },
    close() {
      if (timer !== null) clearTimeout(timer)
      for (const client of clients) end(client)
    },
  }
}

function frame(runId: string, id: number, text: string): string {
  const record = parseJson(text)
  const data = isRecord(record) ? trialRow(runId, record) : null
  // A discarded trial, or a damaged line: the client asks again what there is.
  return `id: ${id}\nevent: ${data === null ? 'changed' : 'trial'}\ndata: ${JSON.stringify(data)}\n\n`
}
