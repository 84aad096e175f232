import type { Variables } from '../core/expand.ts'
import { asObject, type JsonObject } from '../core/json-fields.ts'
import { claudeCodeHooks } from './claude-code/hook-config.ts'
import { claudeCodeCodec } from './claude-code/hooks.ts'
import { codexHooks } from './codex/hook-config.ts'
import { codexCodec } from './codex/hooks.ts'
import { copilotHooks } from './copilot/hook-config.ts'
import { copilotCodec } from './copilot/hooks.ts'
import { cursorHooks } from './cursor/hook-config.ts'
import { cursorAsClaudeCodec, cursorCodec } from './cursor/hooks.ts'
import { geminiHooks } from './gemini/hook-config.ts'
import { geminiCodec } from './gemini/hooks.ts'
import type { HookCodec, HookRegistration } from './hook-codec.ts'
import type { HookInstaller } from './hook-installer.ts'
import { opencodeHooks } from './opencode/hook-config.ts'
import { opencodeCodec } from './opencode/hooks.ts'

/**
 * Agents whose hooks are programs: how to decode and answer their payloads, and how to install hooks in their settings.
 * Add a new one here. Both are functions because a hook needs only one agent and must not load the others.
 */
export const hookedAgents = {
  'claude-code': { codec: () => claudeCodeCodec, installer: () => claudeCodeHooks },
  codex: { codec: () => codexCodec, installer: () => codexHooks },
  gemini: { codec: () => geminiCodec, installer: () => geminiHooks },
  copilot: { codec: () => copilotCodec, installer: () => copilotHooks },
  cursor: { codec: () => cursorCodec, installer: () => cursorHooks },
  opencode: { codec: () => opencodeCodec, installer: () => opencodeHooks },
} satisfies Readonly<Record<string, HookSupport>>

interface HookSupport {
  readonly codec: () => HookCodec
  readonly installer: () => (events: readonly HookRegistration[]) => HookInstaller
}

export type HookedAgent = keyof typeof hookedAgents

/** The codec of each, looked up when it is asked for. */
export const hookCodecs = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(hookedAgents).map(([agent, { codec }]) => [agent, { get: codec, enumerable: true }]),
  ),
) as Readonly<Record<HookedAgent, HookCodec>>

export type DetectedCaller =
  | { readonly kind: 'as_asked'; readonly codec: HookCodec }
  /**
   * Another agent runs the hook that was installed for `asked`. If that agent has its own Gantry hook, this one must
   * stay silent, or everything would count twice; else it is answered with this codec.
   */
  | { readonly kind: 'borrowed'; readonly agent: HookedAgent; readonly codec: HookCodec }

/** Finds the calling agent: Copilot and Cursor also run the hooks of `.claude/settings.json`. */
export function detectCaller(asked: HookedAgent, payload: unknown, env: Variables): DetectedCaller {
  const fields = asObject(payload)
  if (asked === 'claude-code' && fields !== null && !isClaudes(fields, env)) {
    if (isCursors(fields)) return { kind: 'borrowed', agent: 'cursor', codec: cursorAsClaudeCodec }
    if (isCopilots(fields)) return { kind: 'borrowed', agent: 'copilot', codec: copilotCodec }
  }
  return { kind: 'as_asked', codec: hookCodecs[asked] }
}

/** The environment alone proves nothing: an agent started in a shell of Claude Code has inherited its variables. */
function isClaudes({ session_id }: JsonObject, env: Variables): boolean {
  return typeof session_id === 'string' && session_id !== '' && env.CLAUDE_CODE_SESSION_ID === session_id
}

function isCursors(fields: JsonObject): boolean {
  return ['cursor_version', 'conversation_id', 'generation_id'].some(
    (name) => typeof fields[name] === 'string',
  )
}

/** Copilot's own format, or its imitation of Claude Code's, which has a time and lacks fields that Claude Code always sends. */
function isCopilots(fields: JsonObject): boolean {
  if (typeof fields.sessionId === 'string' || typeof fields.hookName === 'string') return true
  if (fields.source === 'new' || asObject(fields.tool_result) !== null) return true
  const isClaudeLike = ['permission_mode', 'prompt_id', 'tool_use_id'].some((name) =>
    Object.hasOwn(fields, name),
  )
  return typeof fields.timestamp === 'string' && !isClaudeLike
}
