import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import type { AgentHooks, HookContext } from '../contract.ts'

/** Answers one hook event of Claude Code; an empty object means no opinion. */
export type HookAnswerer = (input: JsonObject) => Promise<JsonObject>

/** The agent hooks as hooks of Claude Code, by event. Claude Code waits for each of them; a failing hook denies. */
export function agentHooks(hooks: AgentHooks): Readonly<Record<string, HookAnswerer>> {
  const { begin, beforeTool, afterTool, beforeStop } = hooks
  return {
    // A new session sends no SessionStart.
    ...(begin && { UserPromptSubmit: tellOnce(hooks) }),
    ...(beforeTool && { PreToolUse: (input) => askBeforeTool(hooks, input) }),
    ...(afterTool && {
      PostToolUse: (input) => tellAfterTool(hooks, input),
      PostToolUseFailure: (input) => tellAfterTool(hooks, input),
    }),
    ...(beforeStop && { Stop: (input) => askBeforeStop(hooks, input) }),
  }
}

/** Once per conversation: after `/clear` it has a new id and no longer contains the context. */
function tellOnce(hooks: AgentHooks): HookAnswerer {
  const seen = new Set<unknown>()
  return async ({ session_id }) => {
    if (seen.has(session_id)) return {}
    seen.add(session_id)
    return context('UserPromptSubmit', await hooks.begin?.())
  }
}

function context(hookEventName: string, additionalContext: HookContext): JsonObject {
  return additionalContext ? { hookSpecificOutput: { hookEventName, additionalContext } } : {}
}

async function askBeforeTool(hooks: AgentHooks, input: JsonObject): Promise<JsonObject> {
  const tool = asString(input.tool_name) ?? 'unknown'
  const decision = await hooks
    .beforeTool?.({ ...idOf(input), tool, input: input.tool_input })
    .catch((cause: unknown) => ({ kind: 'deny' as const, reason: `the check before it failed: ${cause}` }))
  // An empty answer leaves the decision to the permission mode; `allow` would override it.
  if (decision?.kind !== 'deny') return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: decision.reason,
    },
  }
}

async function tellAfterTool(hooks: AgentHooks, input: JsonObject): Promise<JsonObject> {
  const tool = asString(input.tool_name) ?? 'unknown'
  const error = asString(input.error)
  const output = error ?? outputOf(input.tool_response)
  const exitCode = tool === 'Bash' ? exitCodeOf(error) : undefined
  const addition = await hooks.afterTool?.({
    ...idOf(input),
    tool,
    input: input.tool_input,
    output,
    ...(exitCode !== undefined && { exitCode }),
    ...(error !== undefined && { isError: true }),
  })
  return context(error === undefined ? 'PostToolUse' : 'PostToolUseFailure', addition)
}

function idOf(input: JsonObject): { readonly id?: string } {
  const id = asString(input.tool_use_id)
  return id === undefined ? {} : { id }
}

async function askBeforeStop(hooks: AgentHooks, input: JsonObject): Promise<JsonObject> {
  const decision = await hooks
    .beforeStop?.(asString(input.last_assistant_message))
    .catch((cause: unknown) => ({ kind: 'refuse' as const, reason: `the check at the end failed: ${cause}` }))
  return decision?.kind === 'refuse' ? { decision: 'block', reason: decision.reason } : {}
}

function outputOf(response: unknown): string {
  if (typeof response === 'string') return response
  const { stdout, stderr } = asObject(response) ?? {}
  const streams = [stdout, stderr].filter((text) => typeof text === 'string' && text !== '')
  if (typeof stdout === 'string') return streams.join('\n')
  return JSON.stringify(response) ?? ''
}

function exitCodeOf(error: string | undefined): number | undefined {
  if (error === undefined) return 0
  const match = /^(?:Error: )?Exit code (\d{1,3})\b/.exec(error)
  return match === null ? undefined : Number(match[1])
}
