import { printable } from '../../../guard-engine/printable.ts'
import type { ComponentType } from '../../contract.ts'
import type { Execution, PluginTranscript } from '../../execute/contract.ts'
import { succeeded, toolOutcomes } from '../detection/correlation.ts'
import { hookValues } from '../detection/hook-values.ts'
import { fits, hasActed } from '../detection/hooks.ts'
import type { KnownComponent, KnownComponents } from '../detection/known-components.ts'
import { type ToolUse, toolComponent } from '../detection/tool-component.ts'

/** Why a component that should have fired did not, as far as the traces tell. A clause, without a full stop. */
export function whyQuiet(
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
  skill: 'its description may not say that it is for such a request',
  agent: 'its description may not say that it is for such a request',
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
  const meansIt = (use: ToolUse) => {
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
  switch (type) {
    case 'skill':
      return tool === 'Skill'
    case 'command':
      return tool === 'Skill' || tool === 'SlashCommand'
    case 'agent':
      return tool === 'Agent' || tool === 'Task'
    case 'mcp_server':
      return tools !== undefined && tools.prefix !== '' && tool.startsWith(tools.prefix)
    case 'hook':
      return false
  }
}

/** A hook is quiet because it crashed, because nothing it waits for happened, or although it did. */
function quietHook(expected: KnownComponent, execution: Execution): string | null {
  const crashed = execution.hook_responses.find(
    (response) => !hasActed(response) && fits(expected, response.hook_event, hookValues(response, execution)),
  )
  if (crashed !== undefined)
    return `a hook of this event ended with ${crashed.exit_code === undefined ? crashed.outcome : `exit code ${crashed.exit_code}`}${because(crashed.stderr)}`
  const event = expected.hook?.event ?? ''
  if (!toolEvents.has(event)) return null
  const called = execution.detected_tools.find(({ name }) => fits(expected, event, [name]))
  if (called !== undefined && expected.hook?.isConditional === true)
    return 'the condition of its handlers did not hold'
  return called === undefined
    ? 'no tool that fits its matcher was called'
    : `${called.name} was called and the CLI reported no response of it`
}

const toolEvents: ReadonlySet<string> = new Set(['PreToolUse', 'PostToolUse', 'PostToolUseFailure'])

function limit({ ending }: Execution): string | null {
  if (ending === 'timed_out') return 'the time limit came first'
  return ending === 'over_turns' ? 'the limit of turns came first' : null
}
