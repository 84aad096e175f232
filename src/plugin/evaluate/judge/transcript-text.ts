import { firstChars, headAndTailOfList } from '../../../core/shorten.ts'
import type { PluginTranscript, TranscriptEvent } from '../../execute/contract.ts'

export interface TranscriptLimits {
  /** Characters of one message. */
  readonly messageChars: number
  /** Characters of all messages together. */
  readonly allChars: number
}

/**
 * A transcript as a judge reads it: `[id] ROLE: words`, message by message. A long message is cut at its end, a long transcript
 * in its middle; both say so. Further lines of a message are indented, so that none can pose as another message.
 */
export function transcriptText(
  { events }: PluginTranscript,
  { messageChars, allChars }: TranscriptLimits,
): string {
  const messages = events.map((event) => {
    const words = cut(eventText(event), messageChars).split(lineBreak).join('\n    ')
    return `[${event.id}] ${roleOf(event)}: ${words}`
  })
  return messages.length === 0 ? '(empty)' : headAndTailOfList(messages, allChars, 'messages')
}

/** The words of one event, tools and their inputs among them. Citations are looked for, and their positions counted, in this text. */
export function eventText(event: TranscriptEvent): string {
  if (event.type === 'tool_result') return event.result
  const { content, tool_calls: calls = [] } = event.edit.message
  const called = calls.map(({ name, input }) => `calls ${name} ${JSON.stringify(input)}`)
  return [...(content === '' ? [] : [content]), ...called].join('\n')
}

const lineBreak = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

function roleOf(event: TranscriptEvent): string {
  const role =
    event.type === 'tool_result'
      ? `TOOL_RESULT${event.is_error === true ? ' (error)' : ''}`
      : event.type.toUpperCase()
  return event.parent_tool_use_id === undefined ? role : `${role} (subagent)`
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = firstChars(text, maxChars)
  return `${head} [${text.length - head.length} characters are left out]`
}
