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
  if (type !== 'command') return live[type] ?? `there are no handlers of type ${type}`
  return typeof raw.command === 'string' && raw.command.trim() !== '' ? null : 'it has no command'
}

const live: Readonly<Record<string, string>> = {
  http: 'it calls a server',
  prompt: 'it asks a model',
  agent: 'it asks a model',
  mcp_tool: 'it calls a tool of an MCP server, which only a live session has',
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
