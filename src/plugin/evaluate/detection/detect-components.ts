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
 * other plugins, and the CLI's own. Sources: tool calls and expansions captured by the session's hooks, starts of subagents,
 * responses of hooks, and the transcript only when no call and no start was captured (hooks respond in every trial, so their
 * responses do not count here). Never throws.
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

/** Two plugins may have components with the same name, so the key includes the plugin. */
export function identity({ component_type, plugin, name }: Detection): string {
  return JSON.stringify([component_type, plugin, name])
}

/** Detections without a usable time come last. */
function inOrder(detections: readonly Detection[]): readonly Detection[] {
  const time = ({ timestamp }: Detection) => (Number.isFinite(timestamp) ? timestamp : Number.MAX_VALUE)
  return detections.toSorted((a, b) => time(a) - time(b))
}

/** How calls ended, by id: true = no error. A call with an unknown result is not in the map. */
export type ToolOutcomes = ReadonlyMap<string, boolean>

/** Captures of the session's hooks override the transcript. */
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

/** Whether a captured call worked; null when unknown. */
export function succeeded(
  { success, tool_use_id }: Pick<ToolCapture, 'success' | 'tool_use_id'>,
  outcomes: ToolOutcomes,
): boolean | null {
  return success ?? outcomes.get(tool_use_id) ?? null
}

/**
 * Tool calls that the session's hooks captured. A failed call started nothing. A call with an unknown result counts, and its
 * evidence says so.
 */
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

/** Commands and user-invocable skills that the CLI reports as expanded. What Gantry typed proves nothing. */
function detectFromExpansions({ expansions, trial }: Execution, known: KnownComponents): Detection[] {
  return expansions.flatMap(({ command_name, timestamp }) => {
    const component = commandComponent(command_name, known, trial.arm)
    if (component === null) return []
    const evidence = `the CLI expanded /${component.cli_name}`
    return [detectionOf(component, { source: 'expansion', evidence, timestamp })]
  })
}

/** Agents, by the starts of subagents. Unnamed helpers of the CLI itself, such as the one that compacts, do not count. */
export function detectFromSubagents(
  { subagent_captures, trial }: Execution,
  known: KnownComponents,
): Detection[] {
  return subagent_captures.flatMap(({ agent_type, agent_id, start_timestamp }) => {
    if (agent_type === unnamed) return []
    const component = resolveName(agent_type, 'agent', known, trial.arm)
    if (component === null) return []
    const evidence = `subagent ${component.cli_name} started (${agent_id})`
    return [detectionOf(component, { source: 'subagent_capture', evidence, timestamp: start_timestamp })]
  })
}

/** The type in a capture for which the CLI reported none. */
const unnamed = 'unknown'

type Message = Extract<TranscriptEvent, { readonly edit: unknown }>

/**
 * What the transcript alone shows, for trials without captures: tool calls that did not fail, and commands that the CLI
 * expanded. Messages that Gantry sent prove nothing.
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
    // The CLI does not expand slash commands in the prompt of a subagent.
    if (event.parent_tool_use_id !== undefined) return []
    ours -= 1
    if (execution.expansions.length > 0 || ownWords.texts.has(content.trim())) return []
    const command = (name: string | undefined) =>
      name === undefined ? null : commandComponent(name, known, arm)
    const expanded = command(/<command-name>\s*(\/?[^\s<]+)/.exec(content)?.[1])
    const typed = ours >= 0 ? null : command(/^\s*\/([^\s/]\S*)/.exec(content)?.[1])
    // A path begins with a slash too, so an unknown name is not a command.
    return found(expanded ?? (typed?.plugin == null ? null : typed), 'shows the command', event, index)
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

/** Event ids contain the time: `evt_<ms>_<random>`. */
function timeOf(id: string): number | null {
  const ms = /^evt_(\d{1,15})_/.exec(id)?.[1]
  return ms === undefined ? null : Number(ms)
}

/** The messages that Gantry itself sends in a trial. In the transcript they prove nothing. */
export type SentMessages = ReturnType<typeof sentMessages>

export function sentMessages({ user_prompt, setup_messages = [] }: PluginScenario) {
  return {
    texts: new Set([user_prompt, ...setup_messages.map(({ content }) => content)].map((text) => text.trim())),
    /** How many user messages Gantry sent: the first ones. Their text alone is not enough, because a transcript may be sanitised. */
    userMessages: 1 + setup_messages.filter(({ role }) => role === 'user').length,
  }
}

/** Without a known scenario, the first user message is the prompt. */
const unknownMessages: SentMessages = { texts: new Set(), userMessages: 1 }
