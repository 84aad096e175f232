import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { systemClock } from '../../../io/clock.ts'
import type { SessionRequest } from '../../contract.ts'
import { agentHooks } from '../agent-hooks.ts'

/** Of every version this driver works with. */
const always = [
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'SubagentStop',
  'PreCompact',
  'Notification',
]

const recent = [
  'PostToolUseFailure',
  'SubagentStart',
  'StopFailure',
  'UserPromptExpansion',
  'PermissionDenied',
  'PostCompact',
]

export interface HookCallbacks {
  /** What is asked for when the session begins, most first: a version that refuses one list may take the next. */
  readonly wishes: readonly JsonObject[]
  /** Calls the observer. Throws what the observer throws. */
  see(request: JsonObject): void
  /** The answer to Claude Code: an empty object, unless a hook decides. */
  answer(request: JsonObject): Promise<JsonObject>
}

/** Hooks of Claude Code as calls to us. Observers are called without waiting; only hooks that decide are waited for. */
export function createHookCallbacks({
  hooks = {},
  onHook,
}: Pick<SessionRequest, 'hooks' | 'onHook'>): HookCallbacks {
  const deciders = new Map(Object.entries(agentHooks(hooks)))
  const wish = (events: readonly string[]): JsonObject => {
    const wanted = events.filter((event) => onHook !== undefined || deciders.has(event))
    return Object.fromEntries(wanted.map((event) => [event, [{ hookCallbackIds: [event] }]]))
  }
  const [all, fewer] = [wish([...always, ...recent]), wish(always)]
  return {
    wishes: Object.keys(all).length === Object.keys(fewer).length ? [all] : [all, fewer],
    see(request) {
      const event = eventOf(request)
      if (event !== null) onHook?.({ event, input: inputOf(request), timestamp: systemClock.now().getTime() })
    },
    async answer(request) {
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
