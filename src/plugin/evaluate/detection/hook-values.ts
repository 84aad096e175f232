import type { Execution, HookResponse } from '../../execute/contract.ts'

/**
 * What the matchers of a response's event are compared with. The CLI puts it behind the event's name (`PreToolUse:Write`,
 * `SubagentStart:demo:reviewer`), but not for every event that has one: then it follows from what else was seen.
 */
export function hookValues(
  { hook_name, hook_event }: Pick<HookResponse, 'hook_name' | 'hook_event'>,
  execution: Execution,
): readonly string[] {
  const told = hook_name.startsWith(`${hook_event}:`) ? hook_name.slice(hook_event.length + 1) : null
  if (told !== null) return [told]
  switch (hook_event) {
    case 'SubagentStart':
    case 'SubagentStop':
      return execution.subagent_captures.map(({ agent_type }) => agent_type)
    case 'UserPromptExpansion':
      return execution.expansions.map(({ command_name }) => command_name)
    case 'SessionStart':
      return execution.session_timing.starts.map(({ source }) => source)
    case 'SessionEnd':
      return execution.session_timing.end === undefined ? [''] : [execution.session_timing.end.reason]
    default:
      return ['']
  }
}
