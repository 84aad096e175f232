import type { HookEvent } from '../../core/hook-event.ts'
import { asString, type JsonObject } from '../../core/json-fields.ts'
import type { HookCaller } from '../hook-codec.ts'
import { textIn } from './payload.ts'

/** The event's name where payloads have the shape of Claude Code's. */
export function claudeEventName(payload: JsonObject, caller: HookCaller): string | null {
  return textIn(payload, 'hook_event_name') ?? caller.event
}

/** Whose event it is, there. */
export function claudeSender(payload: JsonObject): Pick<HookEvent, 'session' | 'agentId' | 'agentType'> {
  return {
    session: textIn(payload, 'session_id') ?? 'unknown',
    agentId: textIn(payload, 'agent_id'),
    // Empty is said on purpose: it is the summariser of a compaction.
    agentType: asString(payload.agent_type) ?? null,
  }
}

/** The payload says that this is the first stop. */
export function isFirstClaudeStop({ stop_hook_active }: JsonObject): boolean {
  return stop_hook_active === false
}
