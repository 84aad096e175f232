import type { AgentEvent, Untimed } from '../core/event.ts'
import { type JsonObject, parseObject } from '../core/json-fields.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { FailureReport } from './contract.ts'

/**
 * Turns the lines of one agent's structured output into events, one line at a time and without looking at the outside
 * world. A parser promises:
 * - no line makes it throw: what it does not know becomes a `raw` event, formats change between versions;
 * - every line that is not blank yields at least one event;
 * - usage is emitted as increments: their sum is what the agent reported, however often it repeated itself.
 */
export interface StreamParser {
  push(line: string): readonly Untimed<AgentEvent>[]
  /** Responses of the main model so far; those of subagents do not count. */
  turns(): number
  /** Sum of the usage emitted so far. */
  usage(): UsageTotal
  /** After the last line. */
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
  /** The last thing the main agent said. */
  readonly finalText: string | null
  /** A failure of the machinery from which the agent did not recover. */
  readonly failure: FailureReport | null
  /** What the agent was given is broken, such as a plugin that did not load. */
  readonly invalid?: string
  /** The agent stopped by itself at a limit it was given. */
  readonly passed?: PassedLimit
}

/** One line of a structured stream. What the parser does not know, or is no JSON, is kept as it is. */
export function readLine(
  line: string,
  read: (value: JsonObject) => readonly Untimed<AgentEvent>[],
): readonly Untimed<AgentEvent>[] {
  if (line.trim() === '') return []
  const value = parseObject(line)
  const events = value === null ? [] : read(value)
  return events.length === 0 ? [{ event: 'raw', line }] : events
}
