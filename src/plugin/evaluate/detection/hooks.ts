import { hookEvents } from '../../analyze/hooks/hook-events.ts'
import { hookMatches } from '../../analyze/matcher.ts'
import type { Execution, HookResponse } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import { isLoadedIn, type KnownComponent, type KnownComponents } from './known-components.ts'
import { detectionOf, foundKnown } from './resolve-name.ts'

/**
 * Hooks, by the responses that the CLI reports. The CLI does not name the hook of a response, and runs two equal handlers once.
 * But event and matcher determine which matcher groups fire, so every group that matches has fired.
 */
export function detectFromHookResponses(execution: Execution, known: KnownComponents): Detection[] {
  const hooks = known.hooks.filter((hook) => isLoadedIn(hook, execution.trial.arm))
  if (hooks.length === 0) return []
  return execution.hook_responses.filter(hasActed).flatMap((response) => {
    const values = hookValues(response, execution)
    const fitting = hooks.filter((hook) => fits(hook, response.hook_event, values))
    const evidence = `the CLI reported a response of ${response.hook_name}${ending(response)}`
    const { timestamp } = response
    return fitting
      .filter((hook) => conditionHeld(hook, fitting, response, execution))
      .map((hook) => detectionOf(foundKnown(hook), { source: 'hook_response', evidence, timestamp }))
  })
}

/**
 * The CLI reports no response at the end of a session. The session did end, and then every matching group fires, but nothing
 * was captured, so it counts only as much as the transcript.
 */
export function detectFromSessionEnd(execution: Execution, known: KnownComponents): Detection[] {
  const { end } = execution.session_timing
  if (end === undefined || execution.hook_responses.some(({ hook_event }) => hook_event === 'SessionEnd'))
    return []
  const evidence = `the session ended (${end.reason}); the CLI does not report responses to this event`
  return known.hooks
    .filter((hook) => isLoadedIn(hook, execution.trial.arm) && fits(hook, 'SessionEnd', [end.reason]))
    .map((hook) =>
      detectionOf(foundKnown(hook), { source: 'transcript', evidence, timestamp: end.timestamp }),
    )
}

/** A hook that blocks with exit code 2 is reported as an error, but did its job. */
export function hasActed({ outcome, exit_code }: Pick<HookResponse, 'outcome' | 'exit_code'>): boolean {
  return outcome === 'success' || outcome === 'unknown' || (outcome === 'error' && exit_code === blocking)
}

/** A matcher is ignored on an event without matchers. A condition on an event without conditions means that the handler never runs. */
export function fits({ hook }: KnownComponent, event: string, values: readonly string[]): boolean {
  if (hook === undefined || hook.event !== event) return false
  const facts = hookEvents.get(event)
  if (hook.isConditional && facts?.takesCondition === false) return false
  return facts?.matches === null || values.some((value) => hookMatches(hook.matcher, value))
}

const blocking = 2

function ending({ outcome, exit_code }: HookResponse): string {
  if (exit_code === blocking) return ' that blocks'
  return outcome === 'unknown' ? ' of unknown outcome' : ''
}

/**
 * Whether a matching group has run. A group whose handlers all have a condition may not have. It has when there are more
 * responses than the handlers without a condition explain, which run once per call.
 */
function conditionHeld(
  { hook }: KnownComponent,
  fitting: readonly KnownComponent[],
  { hook_name, hook_event }: Pick<HookResponse, 'hook_name' | 'hook_event'>,
  execution: Execution,
): boolean {
  if (hook?.isConditional !== true) return true
  // The CLI runs equal handlers once, however many groups have them.
  const always = new Set(fitting.flatMap((other) => other.hook?.always ?? [])).size
  const [tool = ''] = hookValues({ hook_name, hook_event }, execution)
  const calls = execution.detected_tools.filter(({ name }) => hookMatches(tool, name)).length
  const responses = execution.hook_responses.filter((response) => response.hook_name === hook_name).length
  return responses > always * Math.max(1, calls)
}

/**
 * The values that matchers of the event are compared with. The CLI appends the value to the event name (`PreToolUse:Write`,
 * `SubagentStart:demo:reviewer`), but not for every event. For the others it is taken from the captures.
 */
export function hookValues(
  { hook_name, hook_event }: Pick<HookResponse, 'hook_name' | 'hook_event'>,
  execution: Execution,
): readonly string[] {
  const value = hook_name.startsWith(`${hook_event}:`) ? hook_name.slice(hook_event.length + 1) : null
  if (value !== null) return [value]
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
