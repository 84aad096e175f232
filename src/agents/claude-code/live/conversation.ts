import type { AgentEnding, AgentEvent, Untimed } from '../../../core/event.ts'
import { asAmount, type JsonObject, parseObject } from '../../../core/json-fields.ts'
import { newUuid } from '../../../io/ids.ts'
import { openProcess } from '../../../io/open-process.ts'
import type { CliStart } from '../../cli/contract.ts'
import type { AgentOutcome, SessionRequest } from '../../contract.ts'
import { endingOfAbort } from '../../limits.ts'
import { createLineReader } from '../../process/output-reader.ts'
import type { StreamParser } from '../../stream.ts'
import { createStreamParser } from '../stream.ts'
import { createControl } from './control.ts'
import { createExchanges } from './exchanges.ts'
import type { HookCallbacks } from './hook-callbacks.ts'

export type Conversation = ReturnType<typeof openConversation>

export type LineListener = (line: JsonObject, events: readonly Untimed<AgentEvent>[]) => void

export interface UserMessage {
  readonly content: string
  /** false: the message is only added to the conversation, without a model call. */
  readonly shouldQuery?: boolean
  /** Emits only events about the session, not the conversation. */
  readonly isQuiet?: boolean
  readonly uuid?: string
}

/** How long Claude Code may take to exit by itself when no prompt can follow. */
export const farewell = { waitMs: 3_000, graceMs: 2_000 }
export const atOnce = { waitMs: 0, graceMs: 2_000 }
/** A program that accepts no more lines is usually about to exit, and its exit is more informative. */
const brokenMs = 1_000
const maxStderr = 500

export function openConversation(start: CliStart, request: SessionRequest, hooks: HookCallbacks) {
  const { signal } = request
  const parser = createStreamParser()
  const exchanges = createExchanges()
  const clock = createApiClock()
  const over = Promise.withResolvers<null>()
  const fault = createFaultGuard(() => stop('cancelled'))
  let stopped: { readonly why: AgentEnding; readonly words: string } | null = null
  let isGone = false
  let isFinishing = false
  let listener: { readonly onLine: LineListener; readonly isQuiet: boolean } | null = null
  let about: JsonObject | null = null
  let stderrTail = ''
  let broken: NodeJS.Timeout | undefined

  /** Ends it at once. `words` is the reason for later prompts. */
  const stop = (why: AgentEnding, words = `it was ended: ${why.replace('_', ' ')}`): void => {
    stopped ??= { why, words }
    control.close()
    void child.end(atOnce).then(() => over.resolve(null))
  }
  const abort = (): void => stop(endingOfAbort(signal))

  const read: StreamParser['push'] = (text) => {
    const line = parseObject(text)
    if (line !== null && control.take(line)) return []
    const events = line?.type === 'command_lifecycle' ? [] : parser.push(text)
    if (line === null) return events
    if (line.type === 'system' && line.subtype === 'init') about = line
    clock.see(line)
    const receiver = listener
    receiver?.onLine(line, events)
    exchanges.see(line)
    if (!exchanges.isAsked()) listener = null
    return receiver?.isQuiet === true ? events.filter(tellsOfSession) : events
  }
  // Errors after we have closed it are caused by us.
  const emit: SessionRequest['emit'] = (event) => {
    if (!isFinishing || event.event !== 'output') request.emit(event)
  }
  const reader = createLineReader({ ...parser, push: read }, emit, () => {})
  const child = startLive(start, {
    workspace: request.workspace,
    transcript: fault.guard(request.transcript),
    stdout: fault.guard(reader.stdout),
    stderr: fault.guard((chunk) => {
      stderrTail = (stderrTail + new TextDecoder().decode(chunk)).slice(-maxStderr)
      reader.stderr(chunk)
    }),
    onBroken: () => {
      if (!isGone) broken ??= setTimeout(stop, brokenMs, 'crashed', 'it does not read its input any more')
    },
  })
  const seeHook = fault.guard(hooks.see)
  const control = createControl(child.send, (asked) => {
    seeHook(asked)
    return hooks.answer(asked)
  })
  const [command, ...args] = start.argv
  request.emit({ event: 'spawn', command, args, ...(child.pid !== undefined && { pid: child.pid }) })

  const gone = child.gone.then((exit) => {
    clearTimeout(broken)
    isGone = true
    const isExpected = isFinishing
    fault.guard(reader.end)()
    control.close()
    over.resolve(null)
    return { ...exit, isExpected }
  })
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()

  /** How it ended; waits for it. */
  const ended = async (): Promise<Pick<AgentOutcome, 'ending' | 'exitCode'> & { readonly words: string }> => {
    if (stopped !== null) {
      await child.end(atOnce)
      return { ending: stopped.why, exitCode: null, words: stopped.words }
    }
    const { error, signal: by, code, isExpected } = await gone
    if (error !== undefined) return { ending: 'not_started', exitCode: null, words: error.message }
    const how = by === null ? `with exit code ${code}` : `by ${by}`
    const complaint = stderrTail.trim()
    const words = isExpected
      ? 'its session is closed'
      : `its process ended ${how}${complaint === '' ? '' : `: ${complaint}`}`
    return { ending: by === null || isExpected ? 'exited' : 'crashed', exitCode: code, words }
  }

  return {
    parser,
    control: control.ask,
    /** Sends a user message and waits for its `result`; null when the agent ends first. One at a time. */
    async send(
      { content, shouldQuery = true, isQuiet = false, uuid = newUuid() }: UserMessage,
      onLine: LineListener = () => {},
    ): Promise<JsonObject | null> {
      const exchange = exchanges.begin(uuid)
      listener = { onLine, isQuiet }
      const message = { role: 'user', content }
      const line = { type: 'user', uuid, message, parent_tool_use_id: null }
      child.send(shouldQuery ? line : { ...line, shouldQuery })
      const result = await Promise.race([exchange.done, over.promise])
      listener = null
      exchange.end()
      fault.rethrow()
      return result
    },
    writeLine: child.send,
    idle: (): Promise<unknown> => Promise.race([exchanges.idle(), over.promise]),
    isAsked: exchanges.isAsked,
    isIdle: exchanges.isIdle,
    tasks: exchanges.tasks,
    expectNoMore: exchanges.expectNoMore,
    /** How long it has waited for its model in total. */
    apiMs: clock.totalMs,
    about: () => about,
    isAlive: () => !isGone && stopped === null && !isFinishing,
    stop,
    ended,
    /** Lets it exit by itself, then ends it. */
    async finish(): Promise<void> {
      if (listener !== null) stop('cancelled')
      isFinishing = true
      child.hangUp()
      await child.end(farewell)
      await gone
      signal.removeEventListener('abort', abort)
      fault.rethrow()
    },
  }
}

/** An error of the event receiver is not the agent's fault: it is stored and thrown where a caller can catch it. */
export function createFaultGuard(onFault: () => void) {
  let fault: { readonly error: unknown } | null = null
  return {
    /** The same function, but it never throws and does nothing after a failure. */
    guard:
      <Args extends readonly unknown[]>(use: (...args: Args) => void) =>
      (...args: Args): void => {
        if (fault !== null) return
        try {
          use(...args)
        } catch (error) {
          fault = { error }
          onFault()
        }
      },
    rethrow(): void {
      if (fault !== null) throw fault.error
    },
  }
}

/** Whether the event is about the session and not the conversation: for messages that are not prompts. */
function tellsOfSession(event: Untimed<AgentEvent>): boolean {
  switch (event.event) {
    case 'session':
    case 'hook':
    case 'error':
      return true
    case 'usage':
      return event.input_tokens + event.output_tokens + (event.cost_usd ?? 0) > 0
    default:
      return false
  }
}

/** How long Claude Code has waited for its model, all prompts together. A `result` reports the time since the conversation or the process began; the value emitted here never decreases. */
export function createApiClock() {
  let lastMs = 0
  let totalMs = 0
  return {
    see(line: JsonObject): void {
      if (line.type === 'conversation_reset') lastMs = 0
      if (line.type !== 'result') return
      const toldMs = asAmount(line.duration_api_ms) ?? lastMs
      totalMs += toldMs >= lastMs ? toldMs - lastMs : toldMs
      lastMs = toldMs
    },
    totalMs: () => totalMs,
  }
}

interface LivePlace {
  readonly workspace: string
  /** Every byte, before it is read. */
  transcript(chunk: Uint8Array): void
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
  /** Called when it accepts no more lines. */
  onBroken(): void
}

/** How long its pipes may stay open after its end. Its child processes could keep them open forever. */
const drainMs = 250

function startLive({ argv, env }: CliStart, place: LivePlace) {
  const child = openProcess({
    argv,
    cwd: place.workspace,
    env,
    onStdout: (chunk) => {
      place.transcript(chunk)
      place.stdout(chunk)
    },
    onStderr: (chunk) => {
      place.transcript(chunk)
      place.stderr(chunk)
    },
  })
  let isHungUp = false
  // Every byte is handled as it arrives; there is no other reader.
  child.stdout.resume()
  const gone = child.exit.then(async (exit) => {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, drainMs)
    if (exit.error === undefined) await Promise.race([child.closed, late])
    clearTimeout(timer)
    return exit
  })
  return {
    pid: child.pid,
    /** Writes one line of JSON. Has no effect after the process has ended. */
    send(message: JsonObject): void {
      if (!child.stdin.writable) {
        if (!isHungUp) place.onBroken()
        return
      }
      child.stdin.write(`${lineOf(message)}\n`, (error) => {
        if (error) place.onBroken()
      })
    },
    hangUp(): void {
      isHungUp = true
      child.stdin.end()
    },
    /** Resolves after the last of its output. */
    gone,
    end: child.end,
  }
}

/** Some line readers treat U+2028 and U+2029 as line ends, and JSON allows escaping them. */
function lineOf(message: JsonObject): string {
  return JSON.stringify(message).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}
