import type { AgentEvent, MessageEvent, Untimed, UsageEvent } from '../core/event.ts'
import { asObject, asString, defined, type JsonObject, parseObject } from '../core/json-fields.ts'
import { addTokens, noTokens, type TokenUsage } from '../core/trial.ts'
import type { FailureReport } from './contract.ts'

export type AgentEvents = readonly Untimed<AgentEvent>[]

/**
 * Turns the lines of one agent's structured output into events, one line at a time. Pure. A parser guarantees:
 * - no line makes it throw: unknown lines become `raw` events, because formats change between versions;
 * - every line that is not blank yields at least one event;
 * - usage is emitted as increments: their sum is what the agent reported, even if it repeats itself.
 */
export interface StreamParser {
  push(line: string): AgentEvents
  /** Responses of the main model so far; those of subagents do not count. */
  turns(): number
  /** Sum of the usage emitted so far. */
  usage(): UsageTotal
  end(): StreamEnd
}

export interface UsageTotal {
  /** null = no line reported a price. */
  readonly costUsd: number | null
  readonly tokens: TokenUsage | null
}

/** A limit of the request that ends an agent. */
export type PassedLimit = 'over_budget' | 'over_turns'

export interface StreamEnd extends UsageTotal {
  /** The last message of the main agent. */
  readonly finalText: string | null
  /** An infrastructure failure from which the agent did not recover. */
  readonly failure: FailureReport | null
  /** The agent's input is broken, such as a plugin that did not load. */
  readonly invalid?: string
  /** The agent stopped by itself at one of its limits. */
  readonly passed?: PassedLimit
}

/** One line of a structured stream. A line that is unknown or not JSON is kept unchanged. */
export function readLine(line: string, read: (value: JsonObject) => AgentEvents): AgentEvents {
  if (line.trim() === '') return []
  const value = parseObject(line)
  const events = value === null ? [] : read(value)
  return events.length === 0 ? [{ event: 'raw', line }] : events
}

export function messageOf(
  role: MessageEvent['role'],
  text: string | undefined,
  from: Partial<Pick<Record<keyof MessageEvent, string | undefined>, 'model' | 'parent_id'>> = {},
): AgentEvents {
  return text === undefined ? [] : [defined({ event: 'message', role, text, ...from })]
}

/** A disconnected server is marked in its name, so that a reader of the log does not mistake it for a working one. */
export function serverName(value: unknown): string {
  const server = asObject(value)
  const name = asString(server?.name) ?? asString(value) ?? JSON.stringify(value)
  const status = asString(server?.status)
  return status === undefined || status === 'connected' ? name : `${name} (${status})`
}

export type StreamAccount = ReturnType<typeof createAccount>

function createAccount() {
  const meter = createUsageMeter()
  const seen = new Set<string>()
  const answers = new Set<unknown>()
  let answerExpected = true
  let finalText: string | null = null
  let failure: FailureReport | null = null
  return {
    meter,
    /** Whether a line with this id is the first of its kind. One without an id always is. */
    isNew(kind: string, id: string | undefined): boolean {
      const key = `${kind} ${id}`
      if (id !== undefined && seen.has(key)) return false
      seen.add(key)
      return true
    },
    /** An answer of the main model, where the stream has ids for them. */
    turn(id: string | undefined): void {
      if (id !== undefined) answers.add(id)
    },
    /** A part of an answer, where it has none: the model answers once after the prompt and once after tool results. */
    answered(): void {
      if (answerExpected) answers.add(answers.size)
      answerExpected = false
      failure = null
    },
    expectAnswer(): void {
      answerExpected = true
    },
    said(text: string): void {
      finalText = text
    },
    recovered(): void {
      failure = null
    },
    failed(report: FailureReport): AgentEvents {
      failure = report
      return [{ event: 'error', ...report }]
    },
    turns: (): number => answers.size,
    end: (): StreamEnd => ({ finalText, failure, ...meter.total() }),
  }
}

/** A parser whose lines are read one by one, and whose account is kept beside them. */
export function lineParser(
  createReader: (account: StreamAccount) => (line: JsonObject) => AgentEvents,
): StreamParser {
  const account = createAccount()
  const read = createReader(account)
  return {
    push: (line) => readLine(line, read),
    turns: account.turns,
    usage: account.meter.total,
    end: account.end,
  }
}

export type UsageMeter = ReturnType<typeof createUsageMeter>

/** Adds up usage events. Cost and tokens stay unknown until an event reports them: unknown is not zero. */
export function createUsageMeter() {
  let total: UsageTotal = { costUsd: null, tokens: null }
  return {
    /** The event to emit for it. */
    add(event: Untimed<UsageEvent>): AgentEvents {
      const { cost_usd: cost, thinking_tokens: thinking, ...usage } = event
      total = {
        costUsd: cost === undefined ? total.costUsd : (total.costUsd ?? 0) + cost,
        tokens: addTokens(total.tokens ?? noTokens, {
          input: usage.input_tokens,
          output: usage.output_tokens,
          cacheRead: usage.cache_read_tokens ?? 0,
          cacheWrite: usage.cache_write_tokens ?? 0,
          ...(thinking !== undefined && { thinking }),
        }),
      }
      return [event]
    },
    total: (): UsageTotal => total,
  }
}
