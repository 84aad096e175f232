import { shorten } from '../core/shorten.ts'
import type { Decided } from './decide.ts'

/** Agents put a text of more than 10,000 characters into a file and show the model only its beginning; codecs add a few words. */
const maxChars = 9_300
const cutMark = '\n… (shortened)'

/** What rules said, within what agents take; a reason ends with how a person finds the decision again. */
export function boundedAnswer(decided: Decided, id: string): Decided {
  const { reason, context, notice } = decided
  return {
    ...decided,
    reason: reason === null ? null : bounded(reason, `\n(gantry guard explain ${id})`),
    context: context === null ? null : bounded(context),
    notice: notice === null ? null : bounded(notice),
  }
}

function bounded(text: string, ending = ''): string {
  const room = maxChars - ending.length
  if (text.length <= room) return text + ending
  return shorten(text, room, cutMark) + ending
}
