import type { ToolUse } from '../analysis/contract.ts'
import { foldToolUses } from '../analysis/tool-uses.ts'
import { foldUsageByModel } from '../analysis/usage-by-model.ts'
import type { GantryEvent } from '../core/event.ts'
import type { Redaction } from '../core/redaction.ts'
import type { ModelUsage } from '../core/trial.ts'
import type { Clock } from '../io/clock.ts'
import { readJsonl } from '../io/jsonl.ts'
import { type EventRecorder, openEventRecorder } from '../store/event-recorder.ts'
import type { TrialPlace } from './trial-work.ts'

/** Writes down what happens in a trial, redacted, and keeps in memory only what the evaluation needs. */
export interface Recorder extends EventRecorder {
  toolUses(): readonly ToolUse[]
  /** Of the agent's models. */
  usage(): readonly ModelUsage[]
  /** Whether the agent printed anything: an empty transcript need not be read. */
  hasTranscript(): boolean
  /** Closes the files until there is something to write again, and forgets the tool uses: thousands may rest. */
  rest(): void
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
  const { events, transcript } = place
  const recorder = openEventRecorder({ events, transcript, redaction, clock, onEvent: fold })
  let hasTranscript = resumed
  return {
    ...recorder,
    transcript: (chunk) => {
      hasTranscript ||= chunk.length > 0
      recorder.transcript(chunk)
    },
    toolUses: () => uses.finish(),
    usage: () => usage.finish(),
    hasTranscript: () => hasTranscript,
    rest: () => {
      recorder.rest()
      uses = foldToolUses()
    },
  }
}
