import type { HookHandler } from '../analyze/contract.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import type { SimulatedEvent } from './contract.ts'
import { type HandlerSetting, handlerCommand, runCommand } from './run-command.ts'
import { understandAnswer } from './understand-answer.ts'

export interface TryHandlerOptions extends Omit<HandlerSetting, 'event'> {
  /** Three times as long for a handler with a timeout. */
  readonly maxTimeoutMs: number
  /** Whether the handler seems meant to refuse something. Default: true. */
  readonly isGuard?: boolean
  readonly signal: AbortSignal
}

export type TriedEvent = Awaited<ReturnType<typeof tryHandler>>

/** Why a handler cannot be tried without Claude Code; null when it can. */
export function whyNotTestable({ type, raw }: HookHandler): string | null {
  switch (type) {
    case 'command':
      return typeof raw.command === 'string' && raw.command.trim() !== '' ? null : 'it has no command'
    case 'http':
      return 'it calls a server'
    case 'prompt':
    case 'agent':
      return 'it asks a model'
    case 'mcp_tool':
      return 'it calls a tool of an MCP server, which only a live session has'
    default:
      return `there are no handlers of type ${type}`
  }
}

/** Starts the handler with the event and returns how Claude Code would treat its answer. It does not wait for one that is `isAsync`. */
export async function tryHandler(
  { raw, timeout_seconds }: HookHandler,
  { event, payload }: SimulatedEvent,
  options: TryHandlerOptions,
) {
  const usualMs = hookEvents.get(event)?.timeoutMs ?? 600_000
  const ownMs = timeout_seconds === undefined ? usualMs : timeout_seconds * 1000
  // A hook that sets a timeout may need more time than others.
  const waitMs = timeout_seconds === undefined ? options.maxTimeoutMs : 3 * options.maxTimeoutMs
  const timeoutMs = Math.max(1, Math.min(ownMs, waitMs))
  const command = handlerCommand(raw, { ...options, event })
  if (command === null) throw new TypeError('a handler without a command is not tried')
  const run = await runCommand({
    ...command,
    cwd: options.place.workspace,
    stdin: JSON.stringify(payload),
    timeoutMs,
    signal: options.signal,
  })
  const isCut = timeout_seconds !== undefined && timeoutMs < ownMs
  const context = { event, handler: raw, isCut, isGuard: options.isGuard ?? true }
  return { run, answer: understandAnswer(run, context), isAsync: raw.async === true }
}
