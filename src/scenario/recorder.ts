import type { ToolUse } from '../analysis/contract.ts'
import { foldToolUses } from '../analysis/tool-uses.ts'
import type { GantryEvent, OutputEvent, Untimed } from '../core/event.ts'
import type { ChunkRedactor } from '../core/redact/chunk-redactor.ts'
import { openAppendLog } from '../io/append-log.ts'
import type { Clock } from '../io/clock.ts'
import { openJsonl, readJsonl } from '../io/jsonl.ts'
import type { Redaction } from './redaction.ts'
import type { TrialPlace } from './trial-place.ts'

/** Writes down what happens in a trial, redacted, and keeps in memory only what the evaluation needs. */
export interface Recorder {
  emit(event: Untimed): void
  transcript(chunk: Uint8Array): void
  /** The transcript's last held-back bytes are written too: scripts may read it now. */
  flush(): void
  toolUses(): readonly ToolUse[]
  /** Whether the agent printed anything: an empty transcript need not be read. */
  hasTranscript(): boolean
  close(): void
}

/** Goes on after what an interrupted try of the same trial had already written. */
export async function openRecorder(
  place: TrialPlace,
  redaction: Redaction,
  clock: Clock,
  resumed: boolean,
): Promise<Recorder> {
  const uses = foldToolUses()
  if (resumed) for await (const event of readJsonl<GantryEvent>(place.events)) uses.add(event)
  const log = openJsonl(place.events)
  const transcript = openAppendLog(place.transcript)
  const chunks = redaction.chunks()
  const outputs = new Map<OutputEvent['stream'], ChunkRedactor>()
  let hasTranscript = resumed
  const stamp = (event: Untimed): GantryEvent => ({ ts: clock.now().getTime() / 1000, ...event })
  const print = (stream: OutputEvent['stream'], text: string): void => {
    if (text !== '') log.append(stamp({ event: 'output', text, ...(stream !== undefined && { stream }) }))
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
      uses.add(stamped)
      log.append(redaction.value(stamped) as GantryEvent)
    },
    transcript: (chunk) => {
      hasTranscript ||= chunk.length > 0
      transcript.append(chunks.push(chunk))
    },
    flush: () => {
      transcript.append(chunks.end())
      log.flush()
    },
    toolUses: () => uses.finish(),
    hasTranscript: () => hasTranscript,
    close: () => {
      transcript.append(chunks.end())
      transcript.close()
      log.close()
    },
  }
}
