import type { PluginConfig } from '../config/keys/schema.ts'
import type { Execution, PluginTranscript } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { confidences, type Detection, type PluginJudgement, type TrialEvaluation } from './contract.ts'
import {
  detectFromSubagents,
  identity,
  type SentMessages,
  sentMessages,
  succeeded,
  toolOutcomes,
} from './detection/detect-components.ts'
import { type KnownComponent, type KnownComponents, nameList } from './detection/known-components.ts'
import { namesakes } from './detection/resolve-name.ts'
import { expectedComponent, isOf } from './expected-component.ts'

export interface TriggerFacts {
  readonly mode: 'programmatic_first' | 'llm_only'
  readonly detection: Detection | undefined
  readonly ambiguity: Ambiguity | null
  readonly judgement: Pick<PluginJudgement, 'triggered'> | null
}

export type TriggerDecision = Pick<TrialEvaluation, 'triggered' | 'confidence' | 'detection_source'>

/**
 * Whether the expected component fired, how certain that is, and what decided it. Traces decide. A judge decides where they are
 * ambiguous, or everywhere with `llm_only`. null when only a judge may decide and there is no judgement.
 */
export function decideTrigger({
  mode,
  detection,
  ambiguity,
  judgement,
}: TriggerFacts): TriggerDecision | null {
  const word = judgement?.triggered ?? null
  const seen = detection !== undefined
  if (mode === 'llm_only')
    return word === null ? null : { triggered: word, confidence: confidences.llm, detection_source: 'llm' }
  if (ambiguity === null || word === null)
    return {
      triggered: seen,
      confidence: seen ? detection.confidence : ambiguity === null ? 1 : confidences.transcript,
      detection_source: word === seen ? 'both' : 'programmatic',
    }
  if (word !== seen) return { triggered: word, confidence: confidences.llm, detection_source: 'llm' }
  return {
    triggered: seen,
    confidence: seen ? detection.confidence : confidences.llm,
    detection_source: 'both',
  }
}

export interface AmbiguityInput {
  readonly scenario: PluginScenario
  readonly execution: Execution
  readonly transcript: PluginTranscript | null
  readonly detections: readonly Detection[]
  readonly known: KnownComponents
}

/** Why the traces of a trial do not show clearly whether the expected component fired. */
export interface Ambiguity {
  readonly kind: 'shared_name' | 'transcript_only' | 'unknown_outcome' | 'captures_missing' | 'only_mentioned'
  readonly message: string
}

/**
 * null when the traces are clear. They always are for hooks: the event determines which group fires, and a judge sees only the
 * transcript, which does not show hooks. They also are in the arm without the plugin, where nothing can fire.
 */
export function ambiguityOf(input: AmbiguityInput): Ambiguity | null {
  const { scenario, execution, known, detections } = input
  const expected = expectedComponent(scenario, known)
  if (expected === null || expected === 'unknown' || expected.type === 'hook') return null
  if (execution.trial.arm === 'without') return null
  const detection = detections.find((one) => isOf(one, expected))
  return (
    sharedName(input, expected) ??
    (detection === undefined ? unseen(input, expected) : weakly(input, detection))
  )
}

/** The called name belongs to several components. */
function sharedName(
  { detections, known, execution }: AmbiguityInput,
  expected: KnownComponent,
): Ambiguity | null {
  if (expected.type === 'mcp_server') return null
  const list = nameList(expected.type)
  for (const { cli_name, component_type } of detections) {
    if ((component_type === 'agent') !== (list === 'agent') || component_type === 'hook') continue
    const meant = namesakes(cli_name, list, known, execution.trial.arm)
    if (meant.length < 2 || !meant.includes(expected)) continue
    const owners = meant.map(({ type, plugin }) => `a ${type} of ${plugin}`)
    return { kind: 'shared_name', message: `${cli_name} is the name of ${owners.join(' and of ')}` }
  }
  return null
}

/** It fired according to traces that are not certain. */
function weakly({ execution, transcript, known }: AmbiguityInput, detection: Detection): Ambiguity | null {
  if (detection.source === 'transcript')
    return { kind: 'transcript_only', message: 'only the transcript shows it' }
  if (detection.source !== 'tool_capture' || hasStarted(detection, execution, known)) return null
  const outcomes = toolOutcomes(execution.detected_tools, transcript)
  const capture = execution.detected_tools.find(({ tool_use_id }) => tool_use_id === detection.tool_use_id)
  return capture !== undefined && succeeded(capture, outcomes) === null
    ? { kind: 'unknown_outcome', message: 'it is unknown how its call ended' }
    : null
}

/** A subagent with a recorded start has started, however its call ended. */
function hasStarted(detection: Detection, execution: Execution, known: KnownComponents): boolean {
  return detectFromSubagents(execution, known).some((start) => identity(start) === identity(detection))
}

function unseen(input: AmbiguityInput, expected: KnownComponent): Ambiguity | null {
  const { scenario, execution, transcript, detections } = input
  if (detections.some(({ component_type }) => component_type !== 'hook')) return null
  if (areCapturesMissing(execution, transcript))
    return {
      kind: 'captures_missing',
      message: 'nothing was captured of a session that did something or died',
    }
  return transcript !== null && mentions(transcript, expected, sentMessages(scenario))
    ? { kind: 'only_mentioned', message: 'the agent mentions it, and no call of it was seen' }
    : null
}

function areCapturesMissing(execution: Execution, transcript: PluginTranscript | null): boolean {
  const { detected_tools, subagent_captures, expansions, termination_type } = execution
  if (detected_tools.length + subagent_captures.length + expansions.length > 0) return false
  if (termination_type === 'error') return true
  const outcomes = toolOutcomes([], transcript)
  return (transcript?.events ?? []).some(
    (event) =>
      event.type === 'assistant' &&
      event.edit.message.tool_calls?.some(({ id }) => outcomes.get(id) !== false),
  )
}

/**
 * Whether the agent mentions a component: by its full name, or by its short name next to its type. A sentence about tests does
 * not mention a skill called `test`. Messages that Gantry sent do not count.
 */
function mentions(transcript: PluginTranscript, component: KnownComponent, ownWords: SentMessages): boolean {
  const wanted = phrases(component)
  return transcript.events.some((event) => {
    if (event.type !== 'assistant') return false
    const { content } = event.edit.message
    if (ownWords.texts.has(content.trim())) return false
    const text = content.toLowerCase()
    return wanted.some((phrase) => text.includes(phrase))
  })
}

function phrases({ type, name, cli_name }: KnownComponent): readonly string[] {
  const own = name.toLowerCase()
  const quoted = [own, `"${own}"`, `'${own}'`, `\`${own}\``]
  const word = type === 'mcp_server' ? 'server' : type
  return [
    cli_name.toLowerCase(),
    ...quoted.flatMap((written) => [`${word} ${written}`, `${written} ${word}`]),
  ]
}

/**
 * Whether a trial needs a judge: with `llm_only` every trial that has something to judge, otherwise those whose traces are
 * ambiguous. Never a trial that failed for infrastructure reasons, and never the arm without the plugin.
 */
export function needsJudge(input: AmbiguityInput, { evaluation }: Pick<PluginConfig, 'evaluation'>): boolean {
  const { scenario, execution, transcript, known } = input
  if (transcript === null || execution.failure !== undefined || execution.invalid !== undefined) return false
  if (execution.trial.arm === 'without') return false
  const expected = expectedComponent(scenario, known)
  if (expected === null || expected === 'unknown') return false
  return evaluation.detection_mode === 'llm_only' || ambiguityOf(input) !== null
}
