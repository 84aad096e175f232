import { parseJson } from '../../../core/json-fields.ts'
import type { EncodedReply, WireFormat } from '../wire/contract.ts'
import { createSseReader, encodeSse } from '../wire/sse.ts'
import type { KeptReply } from './record-reply.ts'

/** An answer as values: events of a stream, one JSON document, or text that is neither. Exactly one of the three. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly events?: readonly StoredEvent[]
  readonly json?: unknown
  readonly text?: string
}

export interface StoredEvent {
  readonly event?: string
  readonly data?: unknown
  /** Instead of `data`, when it is not JSON. */
  readonly text?: string
}

/** Of the headers only the content type is stored: all others depend on the time, the machine or the account. */
export function readResponse(reply: KeptReply, format: WireFormat): StoredResponse {
  const { 'content-type': type } = reply.headers
  const known = { status: reply.status, headers: type === undefined ? {} : { 'content-type': type } }
  if (/^text\/event-stream\b/i.test(type ?? '')) return { ...known, events: readEvents(reply.body, format) }
  const json = parseJson(reply.body)
  return json === undefined ? { ...known, text: reply.body } : { ...known, json }
}

export function writeResponse({ status, headers, events, json, text }: StoredResponse): EncodedReply {
  if (events !== undefined) {
    const chunks = events.map(({ event, data, text: words }) =>
      encodeSse({ ...(event !== undefined && { event }), data: words ?? JSON.stringify(data) }),
    )
    return { status, headers, chunks }
  }
  return { status, headers, chunks: [json === undefined ? (text ?? '') : JSON.stringify(json)] }
}

function readEvents(body: string, format: WireFormat): readonly StoredEvent[] {
  const events: { readonly event?: string; readonly data: string }[] = []
  const reader = createSseReader((event) => events.push(event))
  reader.push(body)
  reader.end()
  return format.mergeDeltas(events).map(({ event, data }) => {
    const value = parseJson(data)
    const name = event === undefined ? {} : { event }
    return typeof value === 'object' && value !== null ? { ...name, data: value } : { ...name, text: data }
  })
}
