import { httpFetch } from '../../io/http-fetch.ts'
import type { HookHandler } from '../analyze/contract.ts'
import type { HandlerRun, HookEffect, SimulatedEvent } from './contract.ts'
import { defaultTimeoutMs } from './event-effects.ts'
import { type HandlerSetting, handlerCommand, runCommand } from './run-command.ts'
import { understandAnswer } from './understand-answer.ts'

export interface TryHandlerOptions extends Omit<HandlerSetting, 'event'> {
  readonly maxTimeoutMs: number
  /** Also call handlers of type http on this machine. */
  readonly allowsHttp: boolean
  readonly signal: AbortSignal
}

export interface TriedEvent {
  readonly run: HandlerRun
  readonly answer: HookEffect
}

/** Why a handler cannot be tried without Claude Code; null when it can. */
export function whyNotTestable(
  { type, raw }: HookHandler,
  { allowsHttp }: Pick<TryHandlerOptions, 'allowsHttp'>,
): string | null {
  switch (type) {
    case 'command':
      return typeof raw.command === 'string' && raw.command.trim() !== '' ? null : 'it names no command'
    case 'http':
      if (typeof raw.url !== 'string' || !isLoopback(raw.url))
        return 'it asks a server that is not on this machine'
      return allowsHttp ? null : 'it asks a server, which was not allowed'
    case 'prompt':
    case 'agent':
      return 'it asks a model'
    case 'mcp_tool':
      return 'it calls a tool of an MCP server, which only a live session has'
    default:
      return `there are no handlers of type ${type}`
  }
}

/** Starts the handler with the event and returns how Claude Code would treat its answer. */
export async function tryHandler(
  { type, raw, timeout_seconds }: HookHandler,
  { event, payload }: SimulatedEvent,
  options: TryHandlerOptions,
): Promise<TriedEvent> {
  const ownMs = timeout_seconds === undefined ? defaultTimeoutMs(event) : timeout_seconds * 1000
  const timeoutMs = Math.max(1, Math.min(ownMs, options.maxTimeoutMs))
  const stdin = JSON.stringify(payload)
  const setting = { ...options, event }
  const run =
    type === 'http'
      ? await postEvent({
          url: String(raw.url),
          headers: headersOf(raw, setting),
          body: stdin,
          timeoutMs,
          signal: options.signal,
        })
      : await runAsCommand(raw, setting, stdin, timeoutMs)
  return { run, answer: understandAnswer(run, { event, handler: raw }) }
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

/** `$NAME` in a header is filled in only where the handler allows the variable; the lab has none but its own. */
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

interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const keptBytes = 256 * 1024

/** Whether a URL stays on this machine. */
function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return false
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** The event sent to a handler of type http, which answers with the same JSON that a command prints. */
async function postEvent({ url, headers, body, timeoutMs, signal }: PostRequest): Promise<HandlerRun> {
  const startedAt = performance.now()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const fetched = await httpFetch({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
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
      message: `the answer was cut: ${cause instanceof Error ? cause.message : String(cause)}`,
    })
  }
  return run({ kind: 'answered', status: fetched.status }, text, bytes)
}
