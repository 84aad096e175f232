import { hookEvents } from '../../analyze/hooks/hook-events.ts'
import { hookMatches } from '../../analyze/matcher.ts'
import type { Execution, HookResponse } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import { conditionHeld } from './condition-held.ts'
import { detectionOf } from './detection-of.ts'
import { foundKnown } from './found-component.ts'
import { hookValues } from './hook-values.ts'
import { isLoadedIn } from './is-loaded-in.ts'
import type { KnownComponent, KnownComponents } from './known-components.ts'

/**
 * Hooks by the responses the CLI reports. It does not say whose a response is, and answers two equal handlers once; but which
 * matcher groups fire follows from event and matcher, so every group that fits has fired.
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
 * The end of a session is not reported by a response. That it ended is known, and that the groups which fit fire then;
 * seen it was not, so it counts no more than a line of a transcript.
 */
export function detectFromSessionEnd(execution: Execution, known: KnownComponents): Detection[] {
  const { end } = execution.session_timing
  if (end === undefined || execution.hook_responses.some(({ hook_event }) => hook_event === 'SessionEnd'))
    return []
  const evidence = `the session ended (${end.reason}); the CLI tells no response of this event`
  return known.hooks
    .filter((hook) => isLoadedIn(hook, execution.trial.arm) && fits(hook, 'SessionEnd', [end.reason]))
    .map((hook) =>
      detectionOf(foundKnown(hook), { source: 'transcript', evidence, timestamp: end.timestamp }),
    )
}

/** A hook that blocks by exit code 2 is reported as an error, and has done what it is for. */
export function hasActed({ outcome, exit_code }: Pick<HookResponse, 'outcome' | 'exit_code'>): boolean {
  return outcome === 'success' || outcome === 'unknown' || (outcome === 'error' && exit_code === blocking)
}

/** A matcher on an event that takes none is ignored; a condition on an event that takes none keeps its handler from ever running. */
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
