import type { JsonObject } from '../../../core/json-fields.ts'
import type { ReplyReader, ReplyReading, SseEvent } from './contract.ts'
import { asJson, parseJson } from './json.ts'
import { createSseReader, type SseReader } from './sse.ts'

/**
 * The body of an answer, a stream of events or one JSON document. The content type decides; where it names neither, what
 * was sent does. `onDocument` is called at most once, at the end, and not for a document that was cut.
 */
export function createReplyBody(
  contentType: string,
  handlers: {
    readonly onEvent: (event: SseEvent) => void
    readonly onDocument: (document: unknown) => void
  },
): SseReader {
  if (/event-stream/i.test(contentType)) return createSseReader(handlers.onEvent)
  const decoder = new TextDecoder()
  const pieces: string[] = []
  return {
    push: (chunk) => {
      pieces.push(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))
    },
    end: () => {
      const text = pieces.join('') + decoder.decode()
      const document = parseJson(text)
      if (document !== undefined) handlers.onDocument(document)
      else if (!/json/i.test(contentType)) {
        const events = createSseReader(handlers.onEvent)
        events.push(text)
        events.end()
      }
    },
  }
}

/** What is known of an answer while it is read. */
export interface ReplyDraft {
  readEvent(event: SseEvent): void
  /** A whole answer. */
  readBody(body: JsonObject): void
  finish(): ReplyReading
}

export function createReplyReader(contentType: string, draft: ReplyDraft): ReplyReader {
  const body = createReplyBody(contentType, {
    onEvent: draft.readEvent,
    onDocument: (document) => draft.readBody(asJson(document)),
  })
  return {
    push: body.push,
    end: () => {
      body.end()
      return draft.finish()
    },
  }
}
