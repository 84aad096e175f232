import type { Decision } from '../../core/decision.ts'
import type { JsonObject } from '../../core/json-fields.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import type { HookReply } from '../hook-codec.ts'

/** How an agent treats an answer to one of its events. */
export interface AnswerChannels {
  /** It can be prevented: a call, a stop, a prompt, a change of settings. */
  readonly block?: true
  /** A text reaches the model. */
  readonly context?: true
  /** A text reaches the person. */
  readonly notice?: true
}

/** A decision reduced to what this event supports. */
export interface HookMessages {
  readonly block: string | null
  readonly context: string | null
  readonly notice: string | null
}

export const noMessages: HookMessages = { block: null, context: null, notice: null }

/**
 * A decision that cannot block is at least reported: to the model, else to the person. With a block, the context
 * becomes part of the reason, the only text that is sure to arrive.
 */
export function messagesOf(decision: Decision, channels: AnswerChannels): HookMessages {
  const { verdict, context, notice } = decision
  const reason = verdict === 'pass' ? null : decision.reason?.trim() || 'This is refused.'
  if (reason !== null && channels.block)
    return {
      block: hookText(withRefusalMark(joined(reason, context) ?? reason)),
      context: null,
      notice: channels.notice ? shortened(notice) : null,
    }
  const untold = reason === null ? null : withRefusalMark(reason)
  return {
    block: null,
    context: channels.context ? shortened(joined(untold, context)) : null,
    notice: channels.notice ? shortened(channels.context ? notice : joined(untold, notice)) : null,
  }
}

function joined(...texts: readonly (string | null)[]): string | null {
  const given = texts.filter((text) => text !== null && text !== '')
  return given.length === 0 ? null : given.join('\n\n')
}

function shortened(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : hookText(text)
}

/** Agents accept a text of up to 10,000 characters and put a longer one into a file that is never read. */
const maxCharacters = 9_500
const note = '\n[cut by the guard: it was longer]'

/**
 * A text that every agent accepts: not too long, and without lone surrogates, for which some JSON readers reject the
 * answer and let everything pass.
 */
export function hookText(text: string): string {
  if (text.length <= maxCharacters) return text.toWellFormed()
  return text.slice(0, maxCharacters - note.length).toWellFormed() + note
}

/** No opinion, on every agent. */
export const silent: HookReply = { stdout: '', stderr: '', exitCode: 0 }

/** One JSON object and nothing else, or nothing at all. */
export function jsonHookReply(output: JsonObject): HookReply {
  const given = Object.entries(output).filter(([, value]) => value !== null && value !== undefined)
  return given.length === 0 ? silent : { ...silent, stdout: JSON.stringify(Object.fromEntries(given)) }
}

/**
 * Exit code 2 with the reason on stderr. Where the agent reads stdout too, the same in its JSON: if one of the two gets
 * lost, the other one blocks.
 */
export function blocking(reason: string, output: JsonObject = {}): HookReply {
  return { ...jsonHookReply(output), stderr: reason, exitCode: 2 }
}
