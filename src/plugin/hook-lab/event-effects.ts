import { basename } from 'node:path'
import type { HookHandler } from '../analyze/contract.ts'
import { type HookEventFacts, hookEvents } from '../analyze/hooks/hook-events.ts'

/**
 * Effect of exit code 2. `deny` and `block`: the action is prevented. `feedback`: the model sees the message, nothing is undone.
 * `ignored`: no effect.
 */
export function exitTwoOf(event: string): 'deny' | 'block' | 'feedback' | 'ignored' {
  const exitTwo = hookEvents.get(event)?.exitTwo
  if (exitTwo === 'blocks') return event === 'PreToolUse' ? 'deny' : 'block'
  return exitTwo === 'feedback' ? 'feedback' : 'ignored'
}

/** How text that is not JSON is used: context of the model, instructions for the summary, a path, or not at all. */
export function plainTextOf(event: string): HookEventFacts['plainText'] {
  return hookEvents.get(event)?.plainText ?? 'unused'
}

/** Whether a hook of the event can prevent an action, so its failure matters. */
export function canRefuse(event: string): boolean {
  const exitTwo = exitTwoOf(event)
  return exitTwo === 'deny' || exitTwo === 'block' || ['PermissionRequest', 'PreModelSwitch'].includes(event)
}

/** Why Claude Code never starts a handler on this event; null when it may. */
export function whyNeverStarted(event: string, { type, raw }: HookHandler): string | null {
  const facts = hookEvents.get(event)
  if (facts === undefined) return `Claude Code has no event ${event}`
  if (!facts.takes.some((taken) => taken === type))
    return `Claude Code has no handlers of type ${type} on ${event}`
  return raw.if !== undefined && !facts.takesCondition
    ? `a handler with \`if\` never runs on ${event}, which is not a tool event`
    : null
}

/** The value that matchers of an event are compared with; null when the event ignores matchers. */
export function subjectOf(event: string, payload: Readonly<Record<string, unknown>>): string | null {
  const field = subjectField(event)
  if (field === null) return null
  const value = payload[field]
  const text = typeof value === 'string' ? value : ''
  return event === 'FileChanged' ? basename(text) : text
}

export function subjectField(event: string): string | null {
  return hookEvents.get(event)?.matches ?? null
}
