import type {
  HookEventDetail,
  HookKind,
  SessionSource,
  ToolCall,
  ToolOutcome,
} from '../../core/hook-event.ts'
import { asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { textIn } from './payload.ts'

/** How an agent writes its payloads. Everything else it writes as Claude Code does. */
export interface PayloadReader {
  call(payload: JsonObject, name: string): ToolCall
  outcome(payload: JsonObject, call: ToolCall): ToolOutcome
  /** The outcome of an event that is sent only for failed calls; its name ends in `Failure`. */
  failure?(payload: JsonObject): ToolOutcome
  stop?(payload: JsonObject): StopFacts
  /** Kinds of events that are read differently as a whole. */
  readonly own?: { readonly [Kind in HookKind]?: (payload: JsonObject, name: string) => HookEventDetail }
}

export type StopFacts = Omit<Extract<HookEventDetail, { readonly again: boolean }>, 'kind'>

export function eventDetail(
  kind: HookKind,
  name: string,
  payload: JsonObject,
  { call, outcome, failure, stop = claudeStop, own = {} }: PayloadReader,
): HookEventDetail {
  const readOwn = own[kind]
  if (readOwn !== undefined) return readOwn(payload, name)
  switch (kind) {
    case 'session_start':
      return { kind, source: sessionSource(payload.source) }
    case 'session_end':
      return { kind, reason: textIn(payload, 'reason') }
    case 'prompt':
      return promptDetail(payload.prompt)
    case 'tool_before':
      return { kind, call: call(payload, name) }
    case 'tool_after': {
      const made = call(payload, name)
      const isFailure = failure !== undefined && name.endsWith('Failure')
      return { kind, call: made, outcome: isFailure ? failure(payload) : outcome(payload, made) }
    }
    case 'tool_denied':
      return { kind, call: call(payload, name), reason: textIn(payload, 'reason') }
    case 'stop':
    case 'subagent_stop':
      return { kind, ...stop(payload) }
    case 'stop_failed':
      return { kind, error: textIn(payload, 'error_details', 'error') }
    case 'subagent_start':
      return { kind }
    case 'compact_before':
      return { kind, trigger: textIn(payload, 'trigger') }
    case 'compact_after':
      return { kind, summary: textIn(payload, 'compact_summary') }
    case 'config_change':
      return { kind, source: textIn(payload, 'source'), path: textIn(payload, 'file_path') }
    case 'other':
      return { kind, name }
  }
}

/** `isSynthetic`: the agent reports that no person sent it. */
export function promptDetail(prompt: unknown, isSynthetic = false): HookEventDetail {
  const text = asString(prompt) ?? ''
  return { kind: 'prompt', text, synthetic: isSynthetic || isOwnRefusal(text) }
}

/** An unknown source counts as a continued session, because a new one would reset what was declared. */
export function sessionSource(source: unknown): SessionSource {
  const known = sources.find((one) => one === source)
  return known ?? (source === undefined || source === 'new' ? 'startup' : 'resume')
}

const sources: readonly SessionSource[] = ['startup', 'resume', 'clear', 'compact', 'fork']

function claudeStop(payload: JsonObject): StopFacts {
  return {
    again: payload.stop_hook_active === true,
    lastMessage: textIn(payload, 'last_assistant_message'),
    background: false,
  }
}
