import type { PluginTranscript } from '../../execute/contract.ts'
import type { JudgeCitation } from '../contract.ts'
import { eventText } from './judge-prompt.ts'

/** A citation as the judge gave it, not checked yet. */
export type ClaimedCitation = Pick<JudgeCitation, 'description' | 'message_id' | 'quoted_text'>

export interface CheckedCitations {
  readonly standing: readonly JudgeCitation[]
  /** How many name a missing message, or text that is not in it. */
  readonly dropped: number
}

/** Keeps the citations whose text is in the message they name, and computes its position. */
export function checkCitations(
  claimed: readonly ClaimedCitation[],
  { events }: Pick<PluginTranscript, 'events'>,
): CheckedCitations {
  const texts = new Map(events.map((event) => [event.id, eventText(event)]))
  const standing = claimed.flatMap((citation) => {
    const text = texts.get(citation.message_id)
    const place = text === undefined ? null : placeOf(citation.quoted_text, text)
    return place === null || text === undefined ? [] : [located(citation, text, place)]
  })
  return { standing, dropped: claimed.length - standing.length }
}

interface Place {
  readonly start: number
  readonly end: number
}

/** The kept text is that of the transcript. */
function located(
  { description, message_id }: ClaimedCitation,
  text: string,
  { start, end }: Place,
): JudgeCitation {
  return {
    description,
    message_id,
    quoted_text: text.slice(start, end),
    position_start: start,
    position_end: end,
  }
}

/** Exact, except for white space: a judge may write a line break differently. */
function placeOf(quote: string, text: string): Place | null {
  const wanted = spaced(quote).text.trim()
  if (wanted === '') return null
  const exact = text.indexOf(quote)
  if (exact !== -1) return { start: exact, end: exact + quote.length }
  const { text: searched, places } = spaced(text)
  const at = searched.indexOf(wanted)
  if (at === -1) return null
  return { start: places[at] ?? 0, end: (places[at + wanted.length - 1] ?? 0) + 1 }
}

/** The text with every run of white space as one space, and the position of each character in the original. */
function spaced(text: string): { readonly text: string; readonly places: readonly number[] } {
  let spacedText = ''
  const places: number[] = []
  for (const { 0: piece, index } of text.matchAll(/\s+|\S+/g)) {
    const shown = /\s/.test(piece) ? ' ' : piece
    for (let offset = 0; offset < shown.length; offset += 1) places.push(index + offset)
    spacedText += shown
  }
  return { text: spacedText, places }
}
