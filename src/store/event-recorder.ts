import type { GantryEvent, OutputEvent, Untimed } from '../core/event.ts'
import type { ChunkRedactor } from '../core/redact/chunk-redactor.ts'
import type { Redaction } from '../core/redaction.ts'
import { openAppendLog } from '../io/append-log.ts'
import type { Clock } from '../io/clock.ts'
import { type JsonlWriter, openJsonl } from '../io/jsonl.ts'

export type EventRecorder = ReturnType<typeof openEventRecorder>

export interface RecorderOptions {
  /** Absolute paths of the two files. */
  readonly events: string
  readonly transcript: string
  readonly redaction: Redaction
  readonly clock: Clock
  /** Gets every event except output, before redaction, so commands that differ only in a secret stay different. */
  readonly onEvent?: (event: GantryEvent) => void
}

export function openEventRecorder(options: RecorderOptions) {
  const { redaction, clock } = options
  let events: JsonlWriter | null = openJsonl(options.events)
  let hasRested = false
  let isClosed = false
  const log = (): JsonlWriter => {
    if (isClosed) throw new Error(`${options.events} is closed`)
    events ??= openJsonl(options.events)
    return events
  }
  const transcript = openAppendLog(options.transcript)
  let unwritten = ''
  const write = (text: string): void => {
    unwritten += text
    transcript.append(unwritten)
    unwritten = ''
  }
  const chunks = redaction.chunks()
  const outputs = new Map<OutputEvent['stream'], ChunkRedactor>()
  const closeFiles = (): void => {
    // The events have what the agent cost. On a full disk they come first.
    events?.close()
    const last = chunks.end()
    // Reopening a log would end its last line, which belongs to the agent.
    if (last !== '' || unwritten !== '' || !hasRested) write(last)
    transcript.close()
  }
  const stamp = (event: Untimed): GantryEvent => ({ ts: clock.now().getTime() / 1000, ...event })
  const print = (stream: OutputEvent['stream'], text: string): void => {
    if (text !== '') log().append(stamp({ event: 'output', text, ...(stream !== undefined && { stream }) }))
  }
  /** Output comes in pieces of any size, and a secret may be split between two. */
  const output = ({ stream, text }: Untimed<OutputEvent>): void => {
    const pieces = outputs.get(stream) ?? redaction.chunks()
    outputs.set(stream, pieces)
    print(stream, pieces.push(text))
  }
  return {
    emit: (event: Untimed) => {
      if (event.event === 'output') return output(event)
      if (event.event === 'complete') for (const [stream, pieces] of outputs) print(stream, pieces.end())
      const stamped = stamp(event)
      options.onEvent?.(stamped)
      log().append(redaction.value(stamped) as GantryEvent)
    },
    transcript: (chunk: Uint8Array): void => {
      try {
        write(chunks.push(chunk))
      } catch {
        // What the chunk cost must still be read. The next chunk, flush or close tries again, and the last two throw.
      }
    },
    /** Also writes the buffered end of the transcript, so others can read it. */
    flush: (): void => {
      events?.flush()
      write(chunks.end())
    },
    /** Closes the files until the next write. */
    rest: (): void => {
      closeFiles()
      events = null
      hasRested = true
    },
    close: (): void => {
      closeFiles()
      isClosed = true
    },
  }
}
