import { basename } from 'node:path'
import type { HookHandler } from '../analyze/contract.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'

/** How Claude Code treats the answer of a hook of one event. */
export interface EventEffects {
  /**
   * Effect of exit code 2. `deny` and `block`: the action is prevented. `feedback`: the model sees the message, nothing is undone.
   * `ignored`: no effect.
   */
  readonly exit2: 'deny' | 'block' | 'feedback' | 'ignored'
  /** Whether `hookSpecificOutput` is allowed; elsewhere it makes the whole answer invalid. */
  readonly specific: boolean
  /** How text that is not JSON is used: context of the model, instructions for the summary, a path, or not at all. */
  readonly plainText: 'context' | 'summary' | 'path' | 'unused'
}

export function effectsOf(event: string): EventEffects {
  const facts = hookEvents.get(event)
  const plainText = plainTexts.get(event) ?? 'unused'
  if (facts?.exitTwo === 'blocks')
    return { exit2: event === 'PreToolUse' ? 'deny' : 'block', specific: facts.takesOutput, plainText }
  const exit2 = facts?.exitTwo === 'feedback' ? 'feedback' : 'ignored'
  return { exit2, specific: facts?.takesOutput ?? false, plainText }
}

const plainTexts: ReadonlyMap<string, EventEffects['plainText']> = new Map([
  ['SessionStart', 'context'],
  ['UserPromptSubmit', 'context'],
  ['UserPromptExpansion', 'context'],
  ['PreCompact', 'summary'],
  ['WorktreeCreate', 'path'],
])

/** Whether a hook of the event can prevent an action, so its failure matters. */
export function canRefuse(event: string): boolean {
  const { exit2 } = effectsOf(event)
  return exit2 === 'deny' || exit2 === 'block' || event === 'PermissionRequest' || event === 'PreModelSwitch'
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

/** Default in milliseconds. */
export function defaultTimeoutMs(event: string): number {
  if (event === 'MessageDisplay') return 10_000
  const isShort = ['UserPromptSubmit', 'PreModelSwitch', 'PostModelSwitch'].includes(event)
  return isShort ? 30_000 : 600_000
}

/** The value that matchers of an event are compared with; null when the event ignores matchers. */
export function subjectOf(event: string, payload: Readonly<Record<string, unknown>>): string | null {
  const field = subjectField(event)
  if (field === null) return null
  const value = payload[field]
  const text = typeof value === 'string' ? value : ''
  return event === 'FileChanged' ? basename(text) : text
}

/** The field of the payload. */
export function subjectField(event: string): string | null {
  return hookEvents.get(event)?.matches ?? null
}
