import type { AgentHooks, HookContext } from '../contract.ts'
import { asObject, asString, type Json } from '../json-fields.ts'
import type { SdkHook } from './sdk.ts'

/** Our hooks in the SDK's form. Claude Code waits for each of them; one that fails forbids rather than lets pass. */
export function sdkHooks(hooks: AgentHooks): Readonly<Record<string, readonly Json[]>> {
  const { begin, beforeTool, afterTool, beforeStop } = hooks
  return {
    // The SDK fires no SessionStart for a new session.
    ...(begin && { UserPromptSubmit: [matcher(tellOnce(hooks))] }),
    ...(beforeTool && { PreToolUse: [matcher((input) => askBeforeTool(hooks, input))] }),
    ...(afterTool && {
      PostToolUse: [matcher((input) => tellAfterTool(hooks, input))],
      PostToolUseFailure: [matcher((input) => tellAfterTool(hooks, input))],
    }),
    ...(beforeStop && { Stop: [matcher((input) => askBeforeStop(hooks, input))] }),
  }
}

function matcher(hook: SdkHook): Json {
  return { hooks: [hook] }
}

function tellOnce(hooks: AgentHooks): SdkHook {
  let isTold = false
  return async () => {
    if (isTold) return {}
    isTold = true
    return context('UserPromptSubmit', await hooks.begin?.())
  }
}

function context(hookEventName: string, additionalContext: HookContext): Json {
  return additionalContext ? { hookSpecificOutput: { hookEventName, additionalContext } } : {}
}

async function askBeforeTool(hooks: AgentHooks, input: Json): Promise<Json> {
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

async function tellAfterTool(hooks: AgentHooks, input: Json): Promise<Json> {
  const tool = asString(input.tool_name) ?? 'unknown'
  const error = asString(input.error)
  const output = error ?? outputOf(input.tool_response)
  const exitCode = tool === 'Bash' ? exitCodeOf(error) : undefined
  const told = await hooks.afterTool?.({
    ...idOf(input),
    tool,
    input: input.tool_input,
    output,
    ...(exitCode !== undefined && { exitCode }),
    ...(error !== undefined && { isError: true }),
  })
  return context(error === undefined ? 'PostToolUse' : 'PostToolUseFailure', told)
}

function idOf(input: Json): { readonly id?: string } {
  const id = asString(input.tool_use_id)
  return id === undefined ? {} : { id }
}

async function askBeforeStop(hooks: AgentHooks, input: Json): Promise<Json> {
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
  const told = /^(?:Error: )?Exit code (\d{1,3})\b/.exec(error)
  return told === null ? undefined : Number(told[1])
}
