import { parseJson } from '../../../core/json-fields.ts'
import type { ReplyReader, ReplyReading, SseEvent } from './contract.ts'
import { createSseReader } from './sse.ts'

/** The state of an answer while it is read. */
export interface ReplyDraft {
  readEvent(event: SseEvent): void
  /** A complete answer. */
  readDocument(document: unknown): void
  finish(): ReplyReading
}

/**
 * The body of an answer: a stream of events or one JSON document. The content type decides, and the first bytes when it
 * names neither. A truncated document is not read.
 */
export function createReplyReader(contentType: string, draft: ReplyDraft): ReplyReader {
  const events = createSseReader(draft.readEvent)
  const isStream = /event-stream/i.test(contentType)
  const decoder = new TextDecoder()
  const pieces: string[] = []
  const readWhole = (text: string): void => {
    const document = parseJson(text)
    if (document !== undefined) draft.readDocument(document)
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
      return draft.finish()
    },
  }
}
