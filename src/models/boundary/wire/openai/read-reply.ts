import type { JsonObject } from '../../../../core/json-fields.ts'
import type { ReplyReader, ReplyReading, SseEvent } from '../contract.ts'
import { asJson } from '../json.ts'
import { createReplyBody } from '../reply-body.ts'

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
