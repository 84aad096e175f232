import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading } from '../contract.ts'
import { asJson, parseJson } from '../json.ts'
import { errorOfBody, readError } from '../openai/failure.ts'
import { readUsage, responsesUsage } from '../openai/usage.ts'
import { textOf, wordOf } from '../openai/words.ts'
import { createReplyReader, type ReplyDraft } from '../reply-body.ts'
import { createItemDrafts } from './item-drafts.ts'
import { readItem } from './read-item.ts'

export function createReader(contentType: string): ReplyReader {
  return createReplyReader(contentType, createDraft())
}

/** Each of them ends a stream. */
const endings: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

function createDraft(): ReplyDraft {
  let model: string | null = null
  let tokens: TokenUsage | null = null
  let error: ReplyReading['error'] = null
  let ended = false
  let output: readonly unknown[] = []
  const items = createItemDrafts()

  const readResponse = (response: JsonObject): void => {
    model = wordOf(response.model) ?? model
    tokens = readUsage(responsesUsage, response.usage) ?? tokens
    error = errorOfBody(response) ?? error
    const listed = asArray(response.output)
    if (listed.length > 0) output = listed
  }
  return {
    readEvent: ({ event, data }) => {
      const fields = asJson(parseJson(data))
      const type = wordOf(fields.type) ?? textOf(event)
      readResponse(asJson(fields.response))
      items.readEvent(type, fields)
      // OpenAI tells it in either place. Some servers send the bare envelope of a failed request, without a type.
      const told = type === 'error' || fields.error !== undefined
      if (told) error = readError(fields.error) ?? readError(withoutType(fields)) ?? error ?? unnamed
      ended ||= endings.has(type) || (told && type === '')
    },
    readBody: (body) => {
      readResponse(body)
      ended ||= error !== null || body.output !== undefined
    },
    finish: () => {
      const told = items.list()
      return { model, tokens, ...sumUp(told.length > 0 ? told : output), complete: ended, error }
    },
  }
}

const unnamed = { type: null, message: 'an error without a message' }

/** `type` is the event's there, not the error's. */
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
