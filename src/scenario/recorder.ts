import type { ToolUse } from '../analysis/contract.ts'
import { foldToolUses } from '../analysis/tool-uses.ts'
import { foldUsageByModel } from '../analysis/usage-by-model.ts'
import type { GantryEvent, OutputEvent, Untimed } from '../core/event.ts'
import type { ChunkRedactor } from '../core/redact/chunk-redactor.ts'
import type { ModelUsage } from '../core/trial.ts'
import { openAppendLog } from '../io/append-log.ts'
import type { Clock } from '../io/clock.ts'
import { type JsonlWriter, openJsonl, readJsonl } from '../io/jsonl.ts'
import type { Redaction } from './redaction.ts'
import type { TrialPlace } from './trial-place.ts'

/** Writes down what happens in a trial, redacted, and keeps in memory only what the evaluation needs. */
export interface Recorder {
  emit(event: Untimed): void
  transcript(chunk: Uint8Array): void
  /** The transcript's last held-back bytes are written too: scripts may read it now. */
  flush(): void
  toolUses(): readonly ToolUse[]
  /** Of the agent's models. */
  usage(): readonly ModelUsage[]
  /** Whether the agent printed anything: an empty transcript need not be read. */
  hasTranscript(): boolean
  /** Closes the files until there is something to write again, and forgets the tool uses: thousands may rest. */
  rest(): void
  close(): void
}

/** Goes on after what an interrupted try of the same trial had already written. */
export async function openRecorder(
  place: TrialPlace,
  redaction: Redaction,
  clock: Clock,
  resumed: boolean,
): Promise<Recorder> {
  let uses = foldToolUses()
  const usage = foldUsageByModel()
  const fold = (event: GantryEvent): void => {
    uses.add(event)
    usage.add(event)
  }
  if (resumed) for await (const event of readJsonl<GantryEvent>(place.events)) fold(event)
  let events: JsonlWriter | null = openJsonl(place.events)
  let hasRested = false
  let isClosed = false
  const log = (): JsonlWriter => {
    if (isClosed) throw new Error(`${place.events} is closed`)
    events ??= openJsonl(place.events)
    return events
  }
  const transcript = openAppendLog(place.transcript)
  const chunks = redaction.chunks()
  const outputs = new Map<OutputEvent['stream'], ChunkRedactor>()
  let hasTranscript = resumed
  const closeFiles = (): void => {
    const last = chunks.end()
    // To open a log again ends its last line, which is the agent's own.
    if (last !== '' || !hasRested) transcript.append(last)
    transcript.close()
    events?.close()
  }
  const stamp = (event: Untimed): GantryEvent => ({ ts: clock.now().getTime() / 1000, ...event })
  const print = (stream: OutputEvent['stream'], text: string): void => {
    if (text !== '') log().append(stamp({ event: 'output', text, ...(stream !== undefined && { stream }) }))
  }
  /** Output comes in pieces of any size: a secret must not be told in two events either. */
  const output = ({ stream, text }: Untimed<OutputEvent>): void => {
    const pieces = outputs.get(stream) ?? redaction.chunks()
    outputs.set(stream, pieces)
    print(stream, pieces.push(text))
  }
  return {
    emit: (event) => {
      if (event.event === 'output') return output(event)
      if (event.event === 'complete') for (const [stream, pieces] of outputs) print(stream, pieces.end())
      const stamped = stamp(event)
      // Two commands that differ in a secret only are still two commands.
      fold(stamped)
      log().append(redaction.value(stamped) as GantryEvent)
    },
    transcript: (chunk) => {
      hasTranscript ||= chunk.length > 0
      transcript.append(chunks.push(chunk))
    },
    flush: () => {
      transcript.append(chunks.end())
      events?.flush()
    },
    toolUses: () => uses.finish(),
    usage: () => usage.finish(),
    hasTranscript: () => hasTranscript,
    rest: () => {
      closeFiles()
      events = null
      hasRested = true
      uses = foldToolUses()
    },
    close: () => {
      closeFiles()
      isClosed = true
    },
  }
}
