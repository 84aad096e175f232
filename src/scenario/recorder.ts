import type { TargetCall, ToolUse } from '../analysis/contract.ts'
import { foldToolUses } from '../analysis/tool-uses.ts'
import { foldUsageByModel } from '../analysis/usage-by-model.ts'
import type { GantryEvent } from '../core/event.ts'
import type { Redaction } from '../core/redaction.ts'
import type { ModelUsage } from '../core/trial.ts'
import type { Clock } from '../io/clock.ts'
import { readJsonl } from '../io/jsonl.ts'
import { type EventRecorder, openEventRecorder } from '../store/event-recorder.ts'
import type { TrialPlace } from './trial-work.ts'

/** Logs a trial, redacted, and keeps in memory only what the evaluation needs. */
export interface Recorder extends EventRecorder {
  toolUses(): readonly ToolUse[]
  targetCalls(): readonly TargetCall[]
  /** Of the agent's models. */
  usage(): readonly ModelUsage[]
  /** Whether the agent printed anything: an empty transcript need not be read. */
  hasTranscript(): boolean
  /** Closes the files until the next write and drops the tool uses and calls, because thousands of recorders may be suspended. */
  rest(): void
}

/** Appends to the log of an interrupted attempt at the same trial. */
export async function openRecorder(
  place: TrialPlace,
  redaction: Redaction,
  clock: Clock,
  resumed: boolean,
): Promise<Recorder> {
  let uses = foldToolUses()
  let calls: TargetCall[] = []
  const usage = foldUsageByModel()
  const fold = (event: GantryEvent): void => {
    uses.add(event)
    usage.add(event)
    if (event.event === 'target_call') {
      const { args, exit_code, cut_off = false } = event
      calls.push({ args, exitCode: cut_off && exit_code !== 0 ? null : exit_code })
    }
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
    targetCalls: () => calls,
    usage: () => usage.finish(),
    hasTranscript: () => hasTranscript,
    rest: () => {
      recorder.rest()
      uses = foldToolUses()
      calls = []
    },
  }
}
