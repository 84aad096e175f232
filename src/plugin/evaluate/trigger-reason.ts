import { printable } from '../../guard-engine/printable.ts'
import { componentLabel } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import type { Execution, PluginTranscript } from '../execute/contract.ts'
import type { Detection, TrialEvaluation } from './contract.ts'
import type { AmbiguityInput } from './decide-trigger.ts'
import { succeeded, toolOutcomes } from './detection/detect-components.ts'
import { fits, hasActed, hookValues } from './detection/hooks.ts'
import type { KnownComponent, KnownComponents } from './detection/known-components.ts'
import { type ToolInvocation, toolComponent } from './detection/resolve-name.ts'
import { ownAndRivals } from './expected-component.ts'

export interface TriggerReasonFacts extends AmbiguityInput {
  readonly expected: KnownComponent
  readonly triggered: boolean
  /** What decided whether it fired. */
  readonly by: TrialEvaluation['detection_source'] | undefined
}

/** One sentence: what was expected, what fired, and where to look. */
export function triggerReason(story: TriggerReasonFacts): string {
  const { scenario, expected, triggered, detections, by } = story
  const name = componentLabel(expected.type, expected.name)
  const { own: detection, rivals } = ownAndRivals(expected, detections)
  if (triggered) {
    const how = detection === undefined ? '' : `: ${detection.evidence}`
    if (!scenario.expected_trigger)
      return `${name} should have stayed quiet and fired${detection === undefined ? '' : firedAt(detection)}${how}`
    return `${name} fired as expected${late(detection, rivals)}${how}`
  }
  if (detection !== undefined && by === 'llm')
    return scenario.expected_trigger
      ? `expected ${name} to fire; the judge says that it did not, although ${detection.evidence}`
      : `${name} stayed quiet as expected, says the judge, although ${detection.evidence}`
  if (!scenario.expected_trigger)
    return `${name} stayed quiet as expected${rivals.length === 0 ? '' : `; ${list(rivals)} fired`}`
  const [first] = rivals
  const why = whyNotFired(expected, story.execution, story.transcript, story.known)
  if (first === undefined) return `expected ${name} to fire; nothing did: ${why}`
  return `expected ${name} to fire; ${list(rivals)} fired instead${firedAt(first)}: ${why}`
}

/** Whether something else fired before it. */
export function late(detection: Detection | undefined, rivals: readonly Detection[]): string {
  if (detection === undefined) return ''
  const earlier = rivals.filter(({ timestamp }) => timestamp < detection.timestamp)
  return earlier.length === 0 ? '' : `, but only after ${list(earlier)}`
}

function list(detections: readonly Detection[]): string {
  return detections
    .map(({ component_type, name, built_in }) => {
      const label = componentLabel(component_type, name)
      return built_in === true ? `the built-in ${label}` : label
    })
    .join(' and ')
}

/** When a component fired: the time of day and the call. Empty when neither is known. */
export function firedAt({ timestamp, tool_use_id }: Pick<Detection, 'timestamp' | 'tool_use_id'>): string {
  const time = timestamp > earliest && timestamp < latest ? new Date(timestamp).toISOString().slice(11) : null
  const call = tool_use_id === undefined || tool_use_id === '' ? null : `call ${tool_use_id.slice(0, 80)}`
  const parts = [time, call].filter((part) => part !== null)
  return parts.length === 0 ? '' : ` at ${parts.join(', ')}`
}

/** Milliseconds since the epoch, from 2001 to 2286. Other values are not timestamps. */
const earliest = 1e12
const latest = 1e13

/** Why a component that should have fired did not, as far as the traces show. A clause without a full stop. */
function whyNotFired(
  expected: KnownComponent,
  execution: Execution,
  transcript: PluginTranscript | null,
  known: KnownComponents,
): string {
  return (
    failedCall(expected, execution, transcript, known) ??
    denial(expected, execution) ??
    (expected.type === 'hook' ? quietHook(expected, execution) : null) ??
    limit(execution) ??
    advice[expected.type]
  )
}

const advice = {
  skill: 'its description may not cover this kind of request',
  agent: 'its description may not cover this kind of request',
  command: 'the CLI expanded no command of this name, and the model called none',
  hook: 'its event did not occur',
  mcp_server: 'no tool of it was called',
} as const satisfies Readonly<Record<ComponentType, string>>

function failedCall(
  expected: KnownComponent,
  { detected_tools, trial }: Execution,
  transcript: PluginTranscript | null,
  known: KnownComponents,
): string | null {
  const outcomes = toolOutcomes(detected_tools, transcript)
  const meansIt = (use: ToolInvocation) => {
    const component = toolComponent(use, known, trial.arm)
    return (
      component !== null &&
      component.plugin === expected.plugin &&
      component.type === expected.type &&
      component.name === (expected.own ? expected.name : expected.cli_name)
    )
  }
  const capture = detected_tools.find((one) => succeeded(one, outcomes) === false && meansIt(one))
  if (capture !== undefined) return `it was called and the call failed${because(capture.error)}`
  for (const event of transcript?.events ?? []) {
    if (event.type !== 'assistant') continue
    const call = event.edit.message.tool_calls?.find((one) => outcomes.get(one.id) === false && meansIt(one))
    if (call !== undefined)
      return `it was called and the call failed${because(answerOf(call.id, transcript))}`
  }
  return null
}

function answerOf(id: string, transcript: PluginTranscript | null): string | undefined {
  for (const event of transcript?.events ?? [])
    if (event.type === 'tool_result' && event.tool_use_id === id) return event.result
  return undefined
}

function because(text: string | undefined): string {
  return text === undefined || text.trim() === '' ? '' : `: ${printable(text.trim(), 200)}`
}

function denial(expected: KnownComponent, { permission_denials }: Execution): string | null {
  const denied = permission_denials.find((tool) => startsIt(tool, expected))
  return denied === undefined ? null : `the agent had no permission for ${printable(denied, 80)}`
}

/** Whether a component of this type is started by this tool. */
function startsIt(tool: string, { type, tools }: KnownComponent): boolean {
  if (type === 'mcp_server')
    return tools !== undefined && tools.prefix !== '' && tool.startsWith(tools.prefix)
  return starters[type].includes(tool)
}

const starters: Readonly<Record<Exclude<ComponentType, 'mcp_server'>, readonly string[]>> = {
  skill: ['Skill'],
  command: ['Skill', 'SlashCommand'],
  agent: ['Agent', 'Task'],
  hook: [],
}

/** A hook did not fire because it crashed, its event did not occur, or the CLI did not run it. */
function quietHook(expected: KnownComponent, execution: Execution): string | null {
  const crashed = execution.hook_responses.find(
    (response) => !hasActed(response) && fits(expected, response.hook_event, hookValues(response, execution)),
  )
  if (crashed !== undefined)
    return `a hook of this event ended with ${crashed.exit_code === undefined ? crashed.outcome : `exit code ${crashed.exit_code}`}${because(crashed.stderr)}`
  const event = expected.hook?.event ?? ''
  if (!toolEvents.has(event)) return null
  const called = fittingCall(expected, execution)
  if (called !== undefined && expected.hook?.isConditional === true)
    return 'the condition of its handlers was not met'
  return called === undefined
    ? 'no tool that fits its matcher was called'
    : `${called.name} was called and the CLI reported no response of it`
}

function fittingCall(expected: KnownComponent, { detected_tools }: Execution) {
  return detected_tools.find(({ name }) => fits(expected, expected.hook?.event ?? '', [name]))
}

/** Whether the model called no tool that a hook of a tool event is for. Such a trial says nothing about the hook. */
export function isHookUntried(expected: KnownComponent, execution: Execution): boolean {
  const hasAnswered = execution.hook_responses.some((response) =>
    fits(expected, response.hook_event, hookValues(response, execution)),
  )
  return (
    toolEvents.has(expected.hook?.event ?? '') &&
    !hasAnswered &&
    fittingCall(expected, execution) === undefined
  )
}

const toolEvents: ReadonlySet<string> = new Set(['PreToolUse', 'PostToolUse', 'PostToolUseFailure'])

function limit({ ending }: Execution): string | null {
  if (ending === 'timed_out') return 'the time limit was reached first'
  return ending === 'over_turns' ? 'the turn limit was reached first' : null
}
