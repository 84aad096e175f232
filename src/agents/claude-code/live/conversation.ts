import type { AgentEnding, AgentEvent, Untimed } from '../../../core/event.ts'
import { asAmount, type JsonObject, parseObject } from '../../../core/json-fields.ts'
import type { CliStart } from '../../cli/contract.ts'
import type { AgentOutcome, SessionRequest } from '../../contract.ts'
import { endingOfAbort } from '../../limits.ts'
import { createLineReader } from '../../process/output-reader.ts'
import type { StreamParser } from '../../stream.ts'
import { createStreamParser } from '../stream.ts'
import { type Control, createControl } from './control.ts'
import { createExchanges, type Exchanges, newMessageId } from './exchanges.ts'
import type { HookCallbacks } from './hook-callbacks.ts'
import { startLive } from './live-process.ts'

/** The lines that go to and fro between us and one Claude Code process. */
export interface Conversation extends Pick<Exchanges, 'isAsked' | 'isIdle' | 'tasks' | 'expectNoMore'> {
  readonly parser: StreamParser
  readonly control: Control['ask']
  /** A message of the user, and all that follows until its `result`; null when the agent is gone before. One at a time. */
  tell(message: TalkMessage, hear?: Hear): Promise<JsonObject | null>
  /** A line without an answer. */
  say(line: JsonObject): void
  idle(): Promise<unknown>
  /** How long it has waited for its model, all messages together. */
  apiMs(): number
  /** The last thing it said about itself and what it has loaded. */
  about(): JsonObject | null
  isAlive(): boolean
  /** Ends it at once. `words` is the reason for later prompts. */
  stop(why: AgentEnding, words?: string): void
  /** How it came to its end; waits for it. */
  ended(): Promise<TalkEnd>
  /** Lets it go by itself, then ends it. */
  finish(): Promise<void>
}

export type Hear = (line: JsonObject, events: readonly Untimed<AgentEvent>[]) => void

export interface TalkMessage {
  readonly content: string
  /** false: it is only remembered, no model is asked. */
  readonly shouldQuery?: boolean
  /** Emits only events about the session, not about what was said. */
  readonly isQuiet?: boolean
  readonly uuid?: string
}

export interface TalkEnd extends Pick<AgentOutcome, 'ending' | 'exitCode'> {
  readonly words: string
}

/** How long Claude Code may take to go by itself once no prompt can follow. */
const farewell = { waitMs: 3_000, graceMs: 2_000 }
const atOnce = { waitMs: 0, graceMs: 2_000 }
/** A program that takes no more lines is most often one that is about to be gone, and its end says more. */
const brokenMs = 1_000
const maxStderr = 500

export function openTalk(start: CliStart, request: SessionRequest, hooks: HookCallbacks): Conversation {
  const { signal } = request
  const parser = createStreamParser()
  const exchanges = createExchanges()
  const clock = createApiClock()
  const over = Promise.withResolvers<null>()
  const fault = createFaultGuard(() => stop('cancelled'))
  let stopped: { readonly why: AgentEnding; readonly words: string } | null = null
  let isGone = false
  let isFinishing = false
  let listener: { readonly hear: Hear; readonly isQuiet: boolean } | null = null
  let about: JsonObject | null = null
  let stderrTail = ''
  let broken: NodeJS.Timeout | undefined

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
    const heardBy = listener
    heardBy?.hear(line, events)
    exchanges.see(line)
    if (!exchanges.isAsked()) listener = null
    return heardBy?.isQuiet === true ? events.filter(tellsOfSession) : events
  }
  // What it complains about when we have gone is our doing.
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

  const ended = async (): Promise<TalkEnd> => {
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
    async tell({ content, shouldQuery = true, isQuiet = false, uuid = newMessageId() }, hear = () => {}) {
      const exchange = exchanges.begin(uuid)
      listener = { hear, isQuiet }
      const message = { role: 'user', content }
      const line = { type: 'user', uuid, message, parent_tool_use_id: null }
      child.send(shouldQuery ? line : { ...line, shouldQuery })
      const result = await Promise.race([exchange.done, over.promise])
      listener = null
      exchange.end()
      fault.rethrow()
      return result
    },
    say: child.send,
    idle: () => Promise.race([exchanges.idle(), over.promise]),
    isAsked: exchanges.isAsked,
    isIdle: exchanges.isIdle,
    tasks: exchanges.tasks,
    expectNoMore: exchanges.expectNoMore,
    apiMs: clock.totalMs,
    about: () => about,
    isAlive: () => !isGone && stopped === null && !isFinishing,
    stop,
    ended,
    async finish() {
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

interface FaultGuard {
  /** The same function, which throws nothing and does nothing once one has failed. */
  guard<Args extends readonly unknown[]>(use: (...args: Args) => void): (...args: Args) => void
  rethrow(): void
}

/** An error thrown by the receiver of our events is not the agent's fault: it is kept and thrown where a caller can catch it. */
function createFaultGuard(onFault: () => void): FaultGuard {
  let fault: { readonly error: unknown } | null = null
  return {
    guard:
      (use) =>
      (...args) => {
        if (fault !== null) return
        try {
          use(...args)
        } catch (error) {
          fault = { error }
          onFault()
        }
      },
    rethrow() {
      if (fault !== null) throw fault.error
    },
  }
}

/** Whether the event is about the session itself and not about what was said: for messages that are not prompts. */
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

/** How long Claude Code has waited for its model, all prompts together. */
interface ApiClock {
  see(line: JsonObject): void
  totalMs(): number
}

/** A `result` reports the time since the conversation began, or since the process did: what is emitted here only ever grows. */
export function createApiClock(): ApiClock {
  let lastMs = 0
  let totalMs = 0
  return {
    see(line) {
      if (line.type === 'conversation_reset') lastMs = 0
      if (line.type !== 'result') return
      const toldMs = asAmount(line.duration_api_ms) ?? lastMs
      totalMs += toldMs >= lastMs ? toldMs - lastMs : toldMs
      lastMs = toldMs
    },
    totalMs: () => totalMs,
  }
}
