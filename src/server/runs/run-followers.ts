import { join } from 'node:path'
import { parseJson } from '../../core/json-fields.ts'
import { monotonicMs } from '../../io/clock.ts'
import { fileStamp } from '../../io/directory.ts'
import { readLinesFrom } from '../../io/line-file.ts'
import type { Store } from '../../store/contract.ts'
import { readManifestState } from '../../store/manifest.ts'
import { isLive } from '../../store/run-lock.ts'
import { runFile } from '../../store/run-paths.ts'
import { isRecord, trialRow } from '../../store/trial-record.ts'
import type { FanOutLimits, FeedSink, Subscription } from '../feed/contract.ts'
import { fanOutLimits } from '../feed/fan-out.ts'
import { heartbeat, preamble } from '../feed/frame.ts'

interface Client {
  readonly sink: FeedSink
  readonly runId: string
  position: number
  /** Trials that had begun when it was last reported. */
  begun: string
  /** When its buffers became full; null when they are not. */
  fullSince: number | null
  writtenAt: number
}

const lookEveryMs = 250
/** A look that takes longer leaves the other clients to the next one, so that the server can answer requests. */
const sliceMs = 20
const maxBytes = 256 * 1024

/**
 * Clients that follow live runs. Every client has its own position in trials.jsonl, which is the id of its last event: nothing is kept
 * in memory for it, and it loses nothing when it reconnects or the server starts again.
 */
export function runFollowers(
  store: Store,
  onProblem: (error: unknown) => void,
  { heartbeatMs, stallMs }: Pick<FanOutLimits, 'heartbeatMs' | 'stallMs'> = fanOutLimits,
) {
  const clients = new Set<Client>()
  let timer: NodeJS.Timeout | null = null

  const write = (client: Client, bytes: Uint8Array): void => {
    client.writtenAt = monotonicMs()
    client.fullSince = client.sink.write(bytes) ? null : client.writtenAt
  }
  const end = (client: Client): void => {
    clients.delete(client)
    client.sink.end()
  }
  const leave = (client: Client): void => {
    clients.delete(client)
    client.sink.destroy()
  }
  /** Writes at most one part of the log to each client. Returns whether some of them wait for more. */
  const look = (): boolean => {
    const began = monotonicMs()
    const states = new Map<string, ReturnType<typeof stateOf>>()
    // Clients that began together are at the same place: what they get is read once.
    const parts = new Map<string, ReturnType<typeof partAt>>()
    const serve = (client: Client): boolean => {
      const { runId, position } = client
      // Asked before the rest of the log is read, so that nothing written before the end is missed.
      const { status, begun } = once(states, runId, () => stateOf(join(store.runsDir, runId)))
      const part = once(parts, `${runId} ${position}`, () => partAt(store, runId, position))
      if (part !== null) {
        client.position = part.next
        write(client, part.bytes)
        // To the end of the queue.
        clients.delete(client)
        clients.add(client)
        return client.fullSince === null
      }
      if (status !== null) {
        write(client, Buffer.from(`event: run\ndata: ${JSON.stringify({ status })}\n\n`))
        end(client)
      } else if (begun !== client.begun) {
        client.begun = begun
        write(client, Buffer.from('event: changed\ndata: null\n\n'))
      } else if (monotonicMs() - client.writtenAt > heartbeatMs) write(client, heartbeat)
      return false
    }
    let isMore = false
    for (const client of [...clients]) {
      const now = monotonicMs()
      if (client.fullSince !== null) {
        if (now - client.fullSince > stallMs) leave(client)
      } else if (now - began > sliceMs) return true
      else
        try {
          isMore = serve(client) || isMore
        } catch (error) {
          onProblem(error)
          leave(client)
        }
    }
    return isMore
  }
  const run = (): void => {
    const isMore = look()
    timer = clients.size === 0 ? null : setTimeout(run, isMore ? 0 : lookEveryMs)
  }
  return {
    subscribe(sink: FeedSink, runId: string, from: number): Subscription {
      const client: Client = { sink, runId, position: from, begun: '', fullSince: null, writtenAt: 0 }
      clients.add(client)
      write(client, preamble(from))
      timer ??= setTimeout(run, 0)
      return {
        drained: () => {
          client.fullSince = null
        },
        close: () => void clients.delete(client),
      }
    },
    close(): void {
      if (timer !== null) clearTimeout(timer)
      for (const client of clients) end(client)
    },
  }
}

/** How a run ended, also when its process was killed; null while it goes on. `begun` changes when a trial begins. */
function stateOf(dir: string): { readonly status: string | null; readonly begun: string } {
  const state = readManifestState(dir)
  const status = state.kind === 'whole' ? state.manifest.status : 'unknown'
  const isOn = (status === 'running' || status === 'unknown') && isLive(dir)
  return {
    status: isOn ? null : status === 'running' ? 'interrupted' : status,
    begun: fileStamp(runFile.trials(dir)),
  }
}

/** A part of the log of trials as a client gets it; null at its end. */
function partAt(store: Store, runId: string, from: number) {
  const log = runFile.trialLog(join(store.runsDir, runId))
  const page = readLinesFrom(log, { from, maxLines: 500, maxBytes, maxLineBytes: 64 * maxBytes })
  if (page === null || page.lines.length === 0) return null
  const frames = page.lines.map(({ offset, length, text }) => frame(runId, offset + length + 1, text))
  return { bytes: Buffer.from(frames.join('')), next: page.next }
}

function frame(runId: string, id: number, text: string): string {
  const record = parseJson(text)
  const data = isRecord(record) ? trialRow(runId, record) : null
  // A discarded trial, or a damaged line: the client asks again what there is.
  return `id: ${id}\nevent: ${data === null ? 'changed' : 'trial'}\ndata: ${JSON.stringify(data)}\n\n`
}

/** What is kept under a key, made when it is asked for first. */
function once<T>(kept: Map<string, T>, key: string, make: () => T): T {
  const before = kept.get(key)
  if (before !== undefined) return before
  const made = make()
  kept.set(key, made)
  return made
}
