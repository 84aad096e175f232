import { asArray, type JsonObject, parseJson } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading } from '../contract.ts'
import { asJson } from '../json.ts'
import { errorOfBody, readError } from '../openai/failure.ts'
import { readUsage, responsesUsage } from '../openai/usage.ts'
import { nonEmptyText, textOf } from '../openai/words.ts'
import { createReplyReader } from '../reply-body.ts'
import { readItem } from './read-item.ts'

/** Each of these events ends a stream. */
const endings: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

export function createReader(contentType: string): ReplyReader {
  let model: string | null = null
  let tokens: TokenUsage | null = null
  let error: ReplyReading['error'] = null
  let ended = false
  let output: readonly unknown[] = []
  const items = createItemDrafts()

  const readResponse = (response: JsonObject): void => {
    model = nonEmptyText(response.model) ?? model
    tokens = readUsage(responsesUsage, response.usage) ?? tokens
    error = errorOfBody(response) ?? error
    const listed = asArray(response.output)
    if (listed.length > 0) output = listed
  }
  return createReplyReader(contentType, {
    readEvent: ({ event, data }) => {
      const fields = asJson(parseJson(data))
      const type = nonEmptyText(fields.type) ?? textOf(event)
      readResponse(asJson(fields.response))
      items.readEvent(type, fields)
      // OpenAI sends it in either place. Some servers send the error envelope of a failed request without a type.
      const hasError = type === 'error' || fields.error !== undefined
      if (hasError) error = readError(fields.error) ?? readError(withoutType(fields)) ?? error ?? unnamed
      ended ||= endings.has(type) || (hasError && type === '')
    },
    readDocument: (document) => {
      const body = asJson(document)
      readResponse(body)
      ended ||= error !== null || body.output !== undefined
    },
    finish: () => {
      const streamed = items.list()
      return { model, tokens, ...sumUp(streamed.length > 0 ? streamed : output), complete: ended, error }
    },
  })
}

const unnamed = { type: null, message: 'an error without a message' }

/** `type` is the type of the event, not of the error. */
function withoutType({ type, ...rest }: JsonObject): JsonObject {
  return rest
}

function sumUp(output: readonly unknown[]): Pick<ReplyReading, 'text' | 'thinking' | 'toolCalls'> {
  const read = output.map(readItem)
  return {
    text: read.map((item) => (item.kind === 'assistant' ? item.text : '')).join(''),
    thinking: read.map((item) => (item.kind === 'thinking' ? item.text : '')).join(''),
    toolCalls: read.flatMap((item) => (item.kind === 'tool_call' ? [item.call] : [])),
  }
}

interface Draft {
  item: JsonObject
  done: boolean
  /** Texts by kind, in the order of their first pieces. */
  readonly pieces: Map<string, string[]>
}

/** The type of the item that a delta belongs to, and which of its texts. */
const places: Readonly<Record<string, { readonly type: string; readonly slot: string }>> = {
  'response.output_text.delta': { type: 'message', slot: 'content' },
  'response.refusal.delta': { type: 'message', slot: 'content' },
  'response.reasoning_text.delta': { type: 'reasoning', slot: 'content' },
  'response.reasoning_summary_text.delta': { type: 'reasoning', slot: 'summary' },
  'response.function_call_arguments.delta': { type: 'function_call', slot: 'arguments' },
  'response.custom_tool_call_input.delta': { type: 'custom_tool_call', slot: 'input' },
}

/** Collects the items of a stream. A complete item overrides its pieces. */
function createItemDrafts() {
  const drafts = new Map<string, Draft>()
  const draftAt = (key: string, item: JsonObject): Draft => {
    const known = drafts.get(key)
    if (known !== undefined) return known
    const draft: Draft = { item, done: false, pieces: new Map() }
    drafts.set(key, draft)
    return draft
  }
  return {
    readEvent: (type: string, event: JsonObject): void => {
      const place = places[type]
      if (place !== undefined) {
        const draft = draftAt(keyOf(event, event.item_id), beginning(place.type))
        const key = `${place.slot} ${String(event.content_index ?? event.summary_index ?? 0)}`
        const pieces = draft.pieces.get(key) ?? []
        pieces.push(textOf(event.delta))
        draft.pieces.set(key, pieces)
      }
      if (type !== 'response.output_item.added' && type !== 'response.output_item.done') return
      const item = asJson(event.item)
      const draft = draftAt(keyOf(event, item.id), item)
      draft.item = item
      draft.done = type === 'response.output_item.done'
    },
    /** Items as they would be in `output`, in their order; unfinished items as far as they came. */
    list: (): readonly JsonObject[] =>
      [...drafts.values()].map((draft) => (draft.done ? draft.item : filled(draft))),
  }
}

/** The index if there is one, otherwise the id. */
function keyOf({ output_index: index }: JsonObject, id: unknown): string {
  return typeof index === 'number' ? String(index) : `id ${textOf(id)}`
}

function beginning(type: string): JsonObject {
  return type === 'message' ? { type, role: 'assistant' } : { type }
}

function filled({ item, pieces }: Draft): JsonObject {
  const texts = (slot: string): readonly string[] =>
    [...pieces].filter(([key]) => key.startsWith(`${slot} `)).map(([, parts]) => parts.join(''))
  const parts = (slot: 'content' | 'summary'): JsonObject => {
    const streamed = texts(slot)
    return { [slot]: streamed.length > 0 ? streamed.map((text) => ({ text })) : asArray(item[slot]) }
  }
  switch (item.type) {
    case 'message':
      return { ...item, ...parts('content') }
    case 'reasoning':
      return { ...item, ...parts('content'), ...parts('summary') }
    case 'function_call':
      return { ...item, arguments: texts('arguments').join('') || textOf(item.arguments) }
    case 'custom_tool_call':
      return { ...item, input: texts('input').join('') || textOf(item.input) }
    default:
      return item
  }
}
