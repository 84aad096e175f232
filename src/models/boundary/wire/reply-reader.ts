import { parseJson } from '../../../core/json-fields.ts'
import type { ReplyReader, ReplyReading, SseEvent } from './contract.ts'
import { createSseReader } from './sse.ts'

/** What is known of an answer while it is read. Pieces of text are joined at its end. */
export type ReplyDraft = {
  -readonly [Key in 'model' | 'tokens' | 'complete' | 'error']: ReplyReading[Key]
} & {
  readonly text: string[]
  readonly thinking: string[]
  readonly toolCalls: ReplyReading['toolCalls'][number][]
}

/** How one format fills the draft. */
export interface ReplySteps {
  readEvent(event: SseEvent): void
  readDocument(document: unknown): void
  /** Adds what is known only after the last byte. */
  finish?(): void
}

/**
 * The body of an answer: a stream of events or one JSON document. The content type decides, and the first bytes when it
 * names neither. A truncated document is not read.
 */
export function createReplyReader(
  contentType: string,
  stepsFor: (draft: ReplyDraft) => ReplySteps,
): ReplyReader {
  const draft: ReplyDraft = {
    model: null,
    tokens: null,
    text: [],
    thinking: [],
    toolCalls: [],
    complete: false,
    error: null,
  }
  const steps = stepsFor(draft)
  const events = createSseReader(steps.readEvent)
  const isStream = /event-stream/i.test(contentType)
  const decoder = new TextDecoder()
  const pieces: string[] = []
  const readWhole = (text: string): void => {
    const document = parseJson(text)
    if (document !== undefined) steps.readDocument(document)
    else if (!/json/i.test(contentType)) events.push(text)
  }
  return {
    push: (chunk) => {
      if (isStream) events.push(chunk)
      else pieces.push(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))
    },
    end: () => {
      if (!isStream) readWhole(pieces.join('') + decoder.decode())
      events.end()
      steps.finish?.()
      return { ...draft, text: draft.text.join(''), thinking: draft.thinking.join('') }
    },
  }
}
