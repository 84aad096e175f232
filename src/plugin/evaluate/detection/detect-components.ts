import type { Execution, PluginTranscript, ToolCapture, TranscriptEvent } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'
import type { Detection } from '../contract.ts'
import { detectFromHookResponses, detectFromSessionEnd } from './hooks.ts'
import type { KnownComponents } from './known-components.ts'
import {
  commandComponent,
  detectionOf,
  type FoundComponent,
  resolveName,
  toolComponent,
} from './resolve-name.ts'

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
  ownWords: SentMessages = unknownMessages,
): readonly Detection[] {
  return firstOfEach(detectFirings(execution, transcript, known, ownWords))
}

/** The same, each as often as a source saw it. */
export function detectFirings(
  execution: Execution,
  transcript: PluginTranscript | null,
  known: KnownComponents,
  ownWords: SentMessages = unknownMessages,
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

/** One detection per component, the earliest, in the order in which they happened. */
export function firstOfEach(detections: readonly Detection[]): readonly Detection[] {
  const first = new Map<string, Detection>()
  for (const detection of inOrder(detections)) {
    const key = identity(detection)
    if (!first.has(key)) first.set(key, detection)
  }
  return [...first.values()]
}

/** Two plugins may have components of one name, so the plugin belongs to it. */
export function identity({ component_type, plugin, name }: Detection): string {
  return JSON.stringify([component_type, plugin, name])
}

/** What has no usable time comes last. */
function inOrder(detections: readonly Detection[]): readonly Detection[] {
  const time = ({ timestamp }: Detection) => (Number.isFinite(timestamp) ? timestamp : Number.MAX_VALUE)
  return detections.toSorted((a, b) => time(a) - time(b))
}

/** How calls ended, by their ids: true = no error. A call of which nobody knows is not in it. */
export type ToolOutcomes = ReadonlyMap<string, boolean>

/** What the session's hooks saw wins over what the transcript says. */
export function toolOutcomes(
  captures: readonly ToolCapture[],
  transcript: PluginTranscript | null,
): ToolOutcomes {
  const outcomes = new Map<string, boolean>()
  for (const event of transcript?.events ?? [])
    if (event.type === 'tool_result') outcomes.set(event.tool_use_id, event.is_error !== true)
  for (const { success, tool_use_id } of captures)
    if (success !== undefined) outcomes.set(tool_use_id, success)
  return outcomes
}

/** Whether a captured call worked; null when nobody knows. */
export function succeeded(
  { success, tool_use_id }: Pick<ToolCapture, 'success' | 'tool_use_id'>,
  outcomes: ToolOutcomes,
): boolean | null {
  return success ?? outcomes.get(tool_use_id) ?? null
}

/** What the session's own hooks saw being called. A call that failed started nothing; one of unknown end counts and says so. */
function detectFromCaptures(
  { detected_tools, trial }: Execution,
  outcomes: ToolOutcomes,
  known: KnownComponents,
): Detection[] {
  return detected_tools.flatMap((capture) => {
    const ended = succeeded(capture, outcomes)
    const component = ended === false ? null : toolComponent(capture, known, trial.arm)
    if (component === null) return []
    const { timestamp, tool_use_id } = capture
    const evidence = `tool ${capture.name} called for ${component.cli_name}${where(capture)}${ended === null ? unknownEnd : ''}`
    return [detectionOf(component, { source: 'tool_capture', evidence, timestamp, tool_use_id })]
  })
}

const unknownEnd = ', and it is unknown how the call ended'

function where({ agent_id, agent_type }: ToolCapture): string {
  if (agent_id === undefined) return ''
  return ` inside subagent ${agent_type ?? agent_id}`
}

/** Commands, and skills a person can call, by the CLI's own word that it expanded them. What we typed proves nothing. */
function detectFromExpansions({ expansions, trial }: Execution, known: KnownComponents): Detection[] {
  return expansions.flatMap(({ command_name, timestamp }) => {
    const component = commandComponent(command_name, known, trial.arm)
    if (component === null) return []
    const evidence = `the CLI expanded /${component.cli_name}`
    return [detectionOf(component, { source: 'expansion', evidence, timestamp })]
  })
}

/** Agents by the starts of subagents. The CLI's own nameless helpers, such as the one that compacts, are nobody's. */
export function detectFromSubagents(
  { subagent_captures, trial }: Execution,
  known: KnownComponents,
): Detection[] {
  return subagent_captures.flatMap(({ agent_type, agent_id, start_timestamp }) => {
    if (agent_type === unnamed) return []
    const component = resolveName(agent_type, { list: 'agent', prefer: 'agent' }, known, trial.arm)
    if (component === null) return []
    const evidence = `subagent ${component.cli_name} started (${agent_id})`
    return [detectionOf(component, { source: 'subagent_capture', evidence, timestamp: start_timestamp })]
  })
}

/** What a capture says that was told no type. */
const unnamed = 'unknown'

type Message = Extract<TranscriptEvent, { readonly edit: unknown }>

/**
 * What the transcript alone tells, for trials in which nothing else saw anything: calls of tools that did not fail, and
 * commands the CLI expanded. What we said ourselves proves nothing.
 */
function detectFromTranscript(
  transcript: PluginTranscript,
  execution: Pick<Execution, 'trial' | 'expansions'>,
  outcomes: ToolOutcomes,
  known: KnownComponents,
  ownWords: SentMessages,
): Detection[] {
  const { arm } = execution.trial
  let ours = ownWords.userMessages
  return transcript.events.flatMap((event, index): Detection[] => {
    if (event.type === 'tool_result') return []
    const { content, tool_calls = [] } = event.edit.message
    if (event.type === 'assistant')
      return tool_calls
        .filter(({ id }) => outcomes.get(id) !== false)
        .flatMap((call) =>
          found(toolComponent(call, known, arm), `calls ${call.name} for`, event, index, call.id),
        )
    // In a subagent's prompt a slash is a word like any other: nobody expands it there.
    if (event.parent_tool_use_id !== undefined) return []
    ours -= 1
    if (execution.expansions.length > 0 || ownWords.texts.has(content.trim())) return []
    const command = (name: string | undefined) =>
      name === undefined ? null : commandComponent(name, known, arm)
    const told = command(/<command-name>\s*(\/?[^\s<]+)/.exec(content)?.[1])
    const typed = ours >= 0 ? null : command(/^\s*\/([^\s/]\S*)/.exec(content)?.[1])
    // A path begins with a slash, too: what nobody we know is called is no command.
    return found(told ?? (typed?.plugin == null ? null : typed), 'shows the command', event, index)
  })
}

function found(
  component: FoundComponent | null,
  what: string,
  { id, parent_tool_use_id }: Message,
  index: number,
  callId?: string,
): Detection[] {
  if (component === null) return []
  const inside = parent_tool_use_id === undefined ? '' : ' inside a subagent'
  return [
    detectionOf(component, {
      source: 'transcript',
      evidence: `${id} of the transcript ${what} ${component.cli_name}${inside}`,
      timestamp: timeOf(id) ?? index,
      ...(callId !== undefined && { tool_use_id: callId }),
    }),
  ]
}

/** Ids of events carry the moment: `evt_<ms>_<random>`. */
function timeOf(id: string): number | null {
  const ms = /^evt_(\d{1,15})_/.exec(id)?.[1]
  return ms === undefined ? null : Number(ms)
}

/** What Gantry itself says in a trial: that it stands in the transcript proves nothing. */
export interface SentMessages {
  readonly texts: ReadonlySet<string>
  /** How many messages of the user are ours: the first ones. Their words alone would not do, for a transcript may be sanitised. */
  readonly userMessages: number
}

export function sentMessages({ user_prompt, setup_messages = [] }: PluginScenario): SentMessages {
  return {
    texts: new Set(
      [user_prompt, ...setup_messages.map(({ content }) => content)].map((words) => words.trim()),
    ),
    userMessages: 1 + setup_messages.filter(({ role }) => role === 'user').length,
  }
}

/** Where the scenario is not known, its prompt is the first message. */
const unknownMessages: SentMessages = { texts: new Set(), userMessages: 1 }
