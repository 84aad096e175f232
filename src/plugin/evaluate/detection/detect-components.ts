import type { Execution, PluginTranscript } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import { type OwnWords, unknownWords } from '../own-words.ts'
import { detectFromSubagents } from './agents.ts'
import { detectFromCaptures } from './captures.ts'
import { toolOutcomes } from './correlation.ts'
import { detectFromExpansions } from './expansions.ts'
import { firstOfEach } from './first-of-each.ts'
import { detectFromHookResponses, detectFromSessionEnd } from './hooks.ts'
import type { KnownComponents } from './known-components.ts'
import { detectFromTranscript } from './transcript.ts'

/**
 * Every component that fired in a trial, each once, in the order in which they happened: those of the plugin under test, of
 * other plugins, and the CLI's own. Tool calls and expansions as the session's hooks saw them, then starts of subagents,
 * then responses of hooks; the transcript only when nothing was seen being called or started (hooks answer in every trial and
 * say nothing about that). Never throws.
 */
export function detectComponents(
  execution: Execution,
  transcript: PluginTranscript | null,
  known: KnownComponents,
  ownWords: OwnWords = unknownWords,
): readonly Detection[] {
  return firstOfEach(detectFirings(execution, transcript, known, ownWords))
}

/** The same, each as often as a source saw it. */
export function detectFirings(
  execution: Execution,
  transcript: PluginTranscript | null,
  known: KnownComponents,
  ownWords: OwnWords = unknownWords,
): readonly Detection[] {
  const outcomes = toolOutcomes(execution.detected_tools, transcript)
  const seen = [
    ...detectFromCaptures(execution, outcomes, known),
    ...detectFromExpansions(execution, known),
    ...detectFromSubagents(execution, known),
  ]
  const read =
    seen.length > 0 || transcript === null
      ? []
      : detectFromTranscript(transcript, execution, outcomes, known, ownWords)
  return [
    ...seen,
    ...detectFromHookResponses(execution, known),
    ...detectFromSessionEnd(execution, known),
    ...read,
  ]
}
