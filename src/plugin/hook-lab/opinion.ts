import type { JsonAnswer } from './answer-schema.ts'
import type { HookDecision, Noticed } from './contract.ts'
import { powersOf } from './event-powers.ts'

export interface Opinion {
  readonly decision: HookDecision
  readonly text: string | null
  readonly change?: unknown
  readonly notes: readonly Noticed[]
}

/** What a valid answer decides; the strongest of what it says. */
export function opinion(answer: JsonAnswer, event: string): Opinion {
  const own: Readonly<Record<string, unknown>> = answer.hookSpecificOutput ?? {}
  const blocks = powersOf(event).exit2 === 'deny' ? 'deny' : 'block'
  const reason = answer.reason ?? null
  const notes: Noticed[] = []
  const permission = permissionOf(own)
  if (permission.decision === 'deny') return { decision: 'deny', text: permission.text, notes }
  if (answer.decision === 'block')
    return powersOf(event).exit2 === 'feedback'
      ? { decision: 'context', text: reason, notes }
      : { decision: blocks, text: reason, notes }
  if (answer.continue === false) {
    if (event === 'PreToolUse')
      notes.push({ code: 'HOOK_CONTINUE_IS_NO_DENY', detail: '`continue` is false, and the tool runs first' })
    else if (event !== 'PreCompact') return { decision: 'block', text: answer.stopReason ?? null, notes }
  }
  if (permission.decision === 'ask') return { decision: 'ask', text: permission.text, notes }
  const change =
    own.updatedInput ??
    own.updatedToolOutput ??
    own.updatedMCPToolOutput ??
    own.displayContent ??
    own.worktreePath ??
    permission.change
  if (change !== undefined) return { decision: 'modify', text: permission.text, change, notes }
  if (typeof own.additionalContext === 'string')
    return { decision: 'context', text: own.additionalContext, notes }
  if (permission.decision === 'allow' || answer.decision === 'approve')
    return { decision: 'allow', text: permission.text ?? reason, notes }
  return { decision: 'none', text: answer.systemMessage ?? null, notes }
}

function permissionOf(own: Readonly<Record<string, unknown>>): {
  readonly decision: 'allow' | 'deny' | 'ask' | null
  readonly text: string | null
  readonly change?: unknown
} {
  const text = typeof own.permissionDecisionReason === 'string' ? own.permissionDecisionReason : null
  if (
    own.permissionDecision === 'allow' ||
    own.permissionDecision === 'deny' ||
    own.permissionDecision === 'ask'
  )
    return { decision: own.permissionDecision, text }
  if (own.permissionDecision === 'defer') return { decision: 'ask', text }
  if (own.action === 'decline' || own.action === 'cancel') return { decision: 'deny', text }
  if (own.action === 'accept') return { decision: 'allow', text, change: own.content }
  const { decision } = own
  if (typeof decision !== 'object' || decision === null || !('behavior' in decision))
    return { decision: null, text }
  const message = 'message' in decision && typeof decision.message === 'string' ? decision.message : null
  if (decision.behavior === 'deny') return { decision: 'deny', text: message }
  return { decision: 'allow', text, ...('updatedInput' in decision && { change: decision.updatedInput }) }
}
