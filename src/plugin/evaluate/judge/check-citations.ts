import type { PluginTranscript } from '../../execute/contract.ts'
import type { JudgeCitation } from '../contract.ts'
import { eventText } from './judge-prompt.ts'

/** What a judge says it has read; whether it stands there is another matter. */
export type ClaimedCitation = Pick<JudgeCitation, 'description' | 'message_id' | 'quoted_text'>

export interface CheckedCitations {
  readonly standing: readonly JudgeCitation[]
  /** How many name a message that is not there, or words that are not in it. */
  readonly dropped: number
}

/** Keeps the citations whose words really stand in the message they name, and computes where. */
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

/** What is kept is the transcript's own spelling. */
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

/** Word for word. White space may differ: a judge that quotes over the end of a line writes it in its own way. */
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

/** With every run of white space as one blank, and where each character of that stands in the text. */
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
