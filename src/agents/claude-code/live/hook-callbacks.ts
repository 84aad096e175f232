import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { systemClock } from '../../../io/clock.ts'
import type { SessionRequest } from '../../contract.ts'
import { agentHooks } from '../agent-hooks.ts'

/** Events that every supported version has. */
const always =
  'PreToolUse PostToolUse UserPromptSubmit SessionStart SessionEnd Stop SubagentStop PreCompact Notification'
const recent = 'PostToolUseFailure SubagentStart StopFailure UserPromptExpansion PermissionDenied PostCompact'

export type HookCallbacks = ReturnType<typeof createHookCallbacks>

/** Hooks of Claude Code as callbacks. Observers are not waited for; only hooks that decide are. */
export function createHookCallbacks({ hooks = {}, onHook }: Pick<SessionRequest, 'hooks' | 'onHook'>) {
  const deciders = new Map(Object.entries(agentHooks(hooks)))
  const wish = (events: string): JsonObject => {
    const wanted = events.split(' ').filter((event) => onHook !== undefined || deciders.has(event))
    return Object.fromEntries(wanted.map((event) => [event, [{ hookCallbackIds: [event] }]]))
  }
  const [all, fewer] = [wish(`${always} ${recent}`), wish(always)]
  return {
    /** The lists to register when the session starts, longest first: a version that refuses one may accept the next. */
    wishes: Object.keys(all).length === Object.keys(fewer).length ? [all] : [all, fewer],
    /** Calls the observer. Throws what the observer throws. */
    see(request: JsonObject): void {
      const event = eventOf(request)
      if (event !== null) onHook?.({ event, input: inputOf(request), timestamp: systemClock.now().getTime() })
    },
    /** The answer to Claude Code: an empty object, unless a hook decides. */
    async answer(request: JsonObject): Promise<JsonObject> {
      const event = eventOf(request)
      if (event === null) throw new Error(`Gantry has no answer to ${JSON.stringify(request.subtype)}`)
      return (await deciders.get(event)?.(inputOf(request))) ?? {}
    },
  }
}

function eventOf({ subtype, callback_id }: JsonObject): string | null {
  return subtype === 'hook_callback' ? (asString(callback_id) ?? null) : null
}

function inputOf({ input }: JsonObject): JsonObject {
  return asObject(input) ?? {}
}
