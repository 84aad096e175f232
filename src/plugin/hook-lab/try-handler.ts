import { httpFetch } from '../../io/http-fetch.ts'
import type { HookHandler } from '../analyze/contract.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import type { HandlerRun, SimulatedEvent } from './contract.ts'
import { type HandlerSetting, handlerCommand, runCommand } from './run-command.ts'
import { understandAnswer } from './understand-answer.ts'

export interface TryHandlerOptions extends Omit<HandlerSetting, 'event'> {
  /** Three times as long for a handler with a timeout. */
  readonly maxTimeoutMs: number
  /** Whether the handler seems meant to refuse something. Default: true. */
  readonly isGuard?: boolean
  /** Also call handlers of type http on this machine. */
  readonly allowsHttp: boolean
  readonly signal: AbortSignal
}

export type TriedEvent = Awaited<ReturnType<typeof tryHandler>>

/** Why a handler cannot be tried without Claude Code; null when it can. */
export function whyNotTestable(
  { type, raw }: HookHandler,
  { allowsHttp }: Pick<TryHandlerOptions, 'allowsHttp'>,
): string | null {
  switch (type) {
    case 'command':
      return typeof raw.command === 'string' && raw.command.trim() !== '' ? null : 'it has no command'
    case 'http':
      if (typeof raw.url !== 'string' || !isLoopback(raw.url))
        return 'it calls a server that is not on this machine'
      return allowsHttp ? null : 'it calls a server, which was not allowed'
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
  { type, raw, timeout_seconds }: HookHandler,
  { event, payload }: SimulatedEvent,
  options: TryHandlerOptions,
) {
  const usualMs = hookEvents.get(event)?.timeoutMs ?? 600_000
  const ownMs = timeout_seconds === undefined ? usualMs : timeout_seconds * 1000
  // A hook that sets a timeout may need more time than others.
  const waitMs = timeout_seconds === undefined ? options.maxTimeoutMs : 3 * options.maxTimeoutMs
  const timeoutMs = Math.max(1, Math.min(ownMs, waitMs))
  const stdin = JSON.stringify(payload)
  const setting = { ...options, event }
  const run = await (type === 'http' ? postEvent : runAsCommand)(raw, setting, stdin, timeoutMs)
  const isCut = timeout_seconds !== undefined && timeoutMs < ownMs
  const context = { event, handler: raw, isCut, isGuard: options.isGuard ?? true }
  return { run, answer: understandAnswer(run, context), isAsync: raw.async === true }
}

async function runAsCommand(
  raw: HookHandler['raw'],
  setting: HandlerSetting & TryHandlerOptions,
  stdin: string,
  timeoutMs: number,
): Promise<HandlerRun> {
  const command = handlerCommand(raw, setting)
  if (command === null) throw new TypeError('a handler without a command is not tried')
  return runCommand({ ...command, cwd: setting.place.workspace, stdin, timeoutMs, signal: setting.signal })
}

/** `$NAME` in a header is expanded only if the handler allows the variable; the lab has only its own. */
function headersOf(
  { headers, allowedEnvVars }: HookHandler['raw'],
  { variables }: HandlerSetting,
): Record<string, string> {
  if (typeof headers !== 'object' || headers === null) return {}
  const allowed = Array.isArray(allowedEnvVars) ? allowedEnvVars.map(String) : []
  const texts = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(
    texts.map(([name, text]) => [
      name,
      text.replaceAll(/\$\{?(\w+)\}?/g, (_, key: string) =>
        allowed.includes(key) ? (variables[key] ?? '') : '',
      ),
    ]),
  )
}

const keptBytes = 256 * 1024

/** Whether a URL stays on this machine. */
function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return false
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** Sends the event to an http handler, which answers with the same JSON that a command prints. */
async function postEvent(
  raw: HookHandler['raw'],
  setting: HandlerSetting & TryHandlerOptions,
  body: string,
  timeoutMs: number,
): Promise<HandlerRun> {
  const { signal } = setting
  const startedAt = performance.now()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const fetched = await httpFetch({
    method: 'POST',
    url: String(raw.url),
    headers: { 'content-type': 'application/json', ...headersOf(raw, setting) },
    body: new TextEncoder().encode(body),
    firstByteTimeoutMs: timeoutMs,
    signal: limit,
  })
  const run = (ending: HandlerRun['ending'], stdout = '', stdoutBytes = 0): HandlerRun => ({
    ending,
    stdout,
    stdoutBytes,
    stderr: '',
    durationMs: performance.now() - startedAt,
    leftBehind: 0,
  })
  signal.throwIfAborted()
  if (fetched.kind === 'unreachable')
    return limit.aborted || performance.now() - startedAt >= timeoutMs
      ? run({ kind: 'timed_out', limitMs: timeoutMs })
      : run({ kind: 'unreachable', message: fetched.message })
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of fetched.body) {
      bytes += chunk.length
      if (text.length < keptBytes) text += decoder.decode(chunk, { stream: true })
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (limit.aborted) return run({ kind: 'timed_out', limitMs: timeoutMs })
    return run({
      kind: 'unreachable',
      message: `the response was truncated: ${cause instanceof Error ? cause.message : String(cause)}`,
    })
  }
  return run({ kind: 'answered', status: fetched.status }, text, bytes)
}
