import type { HookEvent, ToolCall, ToolOutcome } from '../core/hook-event.ts'
import type { Facts, StoredCall, StoredEvent } from './contract.ts'
import { onlyLooks } from './loops/only-looks.ts'
import { callPaths } from './store-event/call-paths.ts'
import { callSignature } from './store-event/call-signature.ts'
import { outcomeSignature } from './store-event/outcome-signature.ts'
import { redactedHead, redactedValue, type TextRedactor } from './store-event/redacted-value.ts'

const maxCommandChars = 4_000
const maxTextChars = 2_000
const maxHeadChars = 1_200
const maxHeadLines = 12
const maxNameChars = 200

/** What the ledger keeps of an event. Signatures are made of the event as it came; every text is redacted, then bounded. */
export function storeEvent(event: HookEvent, facts: Partial<Facts>, redactor: TextRedactor): StoredEvent {
  return {
    kind: event.kind,
    agent: event.agent,
    session: event.session,
    agentId: event.agentId,
    agentType: event.agentType,
    promptId: event.promptId,
    cwd: event.cwd,
    ...happening(event, redactor),
    facts,
  }
}

function happening(
  event: HookEvent,
  redactor: TextRedactor,
): Pick<StoredEvent, 'source' | 'flag' | 'text' | 'call'> {
  const text = (words: string | null): { readonly text?: string } =>
    words === null ? {} : { text: redactedHead(words, maxTextChars, redactor) }
  switch (event.kind) {
    case 'session_start':
      return { source: event.source }
    case 'session_end':
      return text(event.reason)
    case 'prompt':
      return { flag: event.synthetic, ...text(event.text) }
    case 'tool_before':
      return { call: storeCall(event, event.call, redactor) }
    case 'tool_after': {
      const call = storeCall(event, event.call, redactor)
      return { call: { ...call, outcome: storeOutcome(call, event.outcome, redactor) } }
    }
    case 'tool_denied':
      return { call: storeCall(event, event.call, redactor), ...text(event.reason) }
    case 'stop':
    case 'subagent_stop':
      return { flag: event.again, ...text(event.lastMessage) }
    case 'stop_failed':
      return text(event.error)
    case 'subagent_start':
      return {}
    case 'compact_before':
      return text(event.trigger)
    case 'compact_after':
      return text(event.summary)
    case 'config_change':
      return text(event.path ?? event.source)
    case 'other':
      return text(event.name)
  }
}

function storeCall({ cwd }: HookEvent, call: ToolCall, redactor: TextRedactor): StoredCall {
  const { action } = call
  return {
    id: call.id,
    tool: redactedHead(call.tool, maxNameChars, redactor),
    action: action.kind,
    paths: callPaths(call, cwd),
    ...(action.kind === 'shell' && { command: redactedHead(action.command, maxCommandChars, redactor) }),
    signature: callSignature(call),
    input: redactedValue(call.input, redactor),
  }
}

function storeOutcome(
  call: StoredCall,
  outcome: ToolOutcome,
  redactor: TextRedactor,
): NonNullable<StoredCall['outcome']> {
  const stored = {
    kind: knownEnd(outcome),
    exitCode: outcome.exitCode,
    signature: looked,
    head: headLines(redactedHead(outcome.output, maxHeadChars, redactor)),
    ...(outcome.durationMs !== undefined && { durationMs: outcome.durationMs }),
  }
  const isLook = stored.kind === 'success' && onlyLooks({ ...call, outcome: stored })
  return isLook ? stored : { ...stored, signature: outcomeSignature(outcome) }
}

/** Of a look that succeeded: it is part of no loop, and its output, which may be long, need not be told from another. */
const looked = 'looked'

/** A call that was only started, or that a person broke off, neither succeeded nor failed. */
function knownEnd({ kind, background, interrupted, timedOut }: ToolOutcome): ToolOutcome['kind'] {
  return background || (interrupted && !timedOut) ? 'unknown' : kind
}

function headLines(text: string): string {
  return text.split('\n', maxHeadLines).join('\n')
}
