import { asArray, type JsonObject, parseJson } from '../../../core/json-fields.ts'
import type { CallMessage, ModelCall } from '../contract.ts'
import { callKind } from './call-kind.ts'
import type { ReplyReader, SseEvent, WireFormat, WireRoute } from './contract.ts'
import { joinDeltas } from './join-deltas.ts'
import { asCount, asJson, jsonText } from './json.ts'
import { encodeCount, encodeFailure, encodeModels, errorOfBody, readError } from './openai/failure.ts'
import { readUsage, responsesUsage } from './openai/usage.ts'
import { joinedText, nonEmptyText, readArguments, textOf } from './openai/words.ts'
import { encode } from './openai-responses/item-events.ts'
import { joinName, toolNames } from './openai-responses/tool-name.ts'
import { createReplyReader } from './reply-reader.ts'

/** OpenAI Responses, as used by Codex and OpenAI's own libraries. */
export const openaiResponses: WireFormat = {
  api: 'openai-responses',
  route: (method, path) => {
    if (method === 'POST' && /\/responses\/?$/.test(path)) return { kind: 'generate' }
    if (method === 'POST' && /\/responses\/input_tokens\/?$/.test(path)) return { kind: 'count_tokens' }
    return method === 'GET' && /\/models\/?$/.test(path) ? { kind: 'list_models' } : null
  },
  readCall,
  encode,
  encodeCount,
  encodeModels,
  encodeFailure,
  createReader,
  mergeDeltas,
}

/** Joins deltas of the same text of the same item. The first sequence number stays, so numbers may have gaps. */
function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const { type, delta, sequence_number, obfuscation, logprobs, ...place } = body
      if (typeof type !== 'string' || !type.endsWith('.delta') || typeof delta !== 'string') return null
      if (asArray(logprobs).length > 0) return null
      const keys = Object.keys(place).sort()
      const run = jsonText([type, ...keys.map((key) => [key, place[key]])])
      return run === '' ? null : { run, text: delta }
    },
    write: ([first], delta) => ({ ...first, delta }),
  })
}

function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const items =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : asArray(request.input)
  const said = items.map(readItem)
  const system = said.flatMap((item) => (item.kind === 'system' ? [item.text] : []))
  const instructions = textOf(request.instructions)
  const read = {
    api: 'openai-responses',
    model: textOf(request.model),
    stream: request.stream === true,
    system: [...(instructions === '' ? [] : [instructions]), ...system].join('\n'),
    messages: toMessages(said),
    tools: [...new Set([...toolNames(request.tools), ...items.flatMap(toolsOfItem)])],
    maxOutputTokens: asCount(request.max_output_tokens) ?? null,
  } as const
  const asksToCompact = items.some((item) => asJson(item).type === 'compaction_trigger')
  return { ...read, kind: asksToCompact ? 'compaction' : callKind(route, read) }
}

/** Tools can be part of the conversation: Codex sends them there to some models, and tool search results are such items. */
function toolsOfItem(value: unknown): readonly string[] {
  const item = asJson(value)
  return item.type === 'additional_tools' || item.type === 'tool_search_output' ? toolNames(item.tools) : []
}

/**
 * All items of one answer are one message: the number of assistant messages is the number of answers. System text at
 * the start of the conversation is left out, because it is read separately.
 */
function toMessages(items: readonly ReadItem[]): readonly CallMessage[] {
  const messages: CallMessage[] = []
  for (const item of items) {
    switch (item.kind) {
      case 'other':
        break
      case 'system':
        if (messages.length > 0) messages.push(message('system', item.text))
        break
      case 'user':
        messages.push(message('user', item.text))
        break
      case 'tool_result':
        messages.push({ ...message('tool', ''), toolResults: [item.result] })
        break
      default: {
        const last = messages.at(-1)
        if (last?.role === 'assistant') messages[messages.length - 1] = addToAnswer(last, item)
        else messages.push(addToAnswer(message('assistant', ''), item))
      }
    }
  }
  return messages
}

function addToAnswer(answer: CallMessage, item: Answered): CallMessage {
  switch (item.kind) {
    case 'assistant':
      return { ...answer, text: answer.text === '' ? item.text : `${answer.text}\n${item.text}` }
    case 'tool_call':
      return { ...answer, toolCalls: [...answer.toolCalls, item.call] }
    case 'thinking':
      return answer
  }
}

type Answered = Extract<ReadItem, { kind: 'assistant' | 'tool_call' | 'thinking' }>

function message(role: CallMessage['role'], text: string): CallMessage {
  return { role, text, toolCalls: [], toolResults: [] }
}

/** Each of these events ends a stream. */
const endings: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

function createReader(contentType: string): ReplyReader {
  return createReplyReader(contentType, (draft) => {
    let output: readonly unknown[] = []
    const items = createItemDrafts()
    const readResponse = (response: JsonObject): void => {
      draft.model = nonEmptyText(response.model) ?? draft.model
      draft.tokens = readUsage(responsesUsage, response.usage) ?? draft.tokens
      draft.error = errorOfBody(response) ?? draft.error
      const listed = asArray(response.output)
      if (listed.length > 0) output = listed
    }
    return {
      readEvent: ({ event, data }) => {
        const fields = asJson(parseJson(data))
        const type = nonEmptyText(fields.type) ?? textOf(event)
        readResponse(asJson(fields.response))
        items.readEvent(type, fields)
        // OpenAI sends it in either place. Some servers send the error envelope of a failed request without a type.
        const hasError = type === 'error' || fields.error !== undefined
        if (hasError)
          draft.error = readError(fields.error) ?? readError(withoutType(fields)) ?? draft.error ?? unnamed
        draft.complete ||= endings.has(type) || (hasError && type === '')
      },
      readDocument: (document) => {
        const body = asJson(document)
        readResponse(body)
        draft.complete ||= draft.error !== null || body.output !== undefined
      },
      finish: () => {
        const streamed = items.list()
        for (const item of (streamed.length > 0 ? streamed : output).map(readItem)) {
          if (item.kind === 'assistant') draft.text.push(item.text)
          if (item.kind === 'thinking') draft.thinking.push(item.text)
          if (item.kind === 'tool_call') draft.toolCalls.push(item.call)
        }
      },
    }
  })
}

const unnamed = { type: null, message: 'an error without a message' }

/** `type` is the type of the event, not of the error. */
function withoutType({ type, ...rest }: JsonObject): JsonObject {
  return rest
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

type ToolCall = CallMessage['toolCalls'][number]
type ToolResult = CallMessage['toolResults'][number]

/** An item of the conversation. The API has more kinds than these; none of the others counts as a message. */
type ReadItem =
  | { readonly kind: 'system'; readonly text: string }
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly call: ToolCall }
  | { readonly kind: 'tool_result'; readonly result: ToolResult }
  | { readonly kind: 'other' }

function readItem(value: unknown): ReadItem {
  const item = asJson(value)
  const type = textOf(item.type)
  if (type === 'message' || (type === '' && typeof item.role === 'string')) {
    return { kind: speaker(item.role), text: joinedText(item.content) }
  }
  if (type === 'agent_message') return { kind: 'user', text: agentText(item.content) }
  // The raw thinking if the model shows it, otherwise its summary.
  if (type === 'reasoning')
    return { kind: 'thinking', text: plainText(item.content) || plainText(item.summary) }
  if (type.endsWith('_call')) return { kind: 'tool_call', call: readCallItem(type, item) }
  return type.endsWith('_output') ? { kind: 'tool_result', result: readOutput(item) } : { kind: 'other' }
}

function speaker(role: unknown): 'system' | 'user' | 'assistant' {
  if (role === 'system' || role === 'developer') return 'system'
  return role === 'assistant' ? 'assistant' : 'user'
}

/** A message between Codex agents: the last part has it as plain text in a field for encrypted content. */
function agentText(content: unknown): string {
  return joinedText(
    asArray(content).map((part) => {
      const { text, encrypted_content: hidden } = asJson(part)
      return { text: text ?? hidden }
    }),
  )
}

function plainText(parts: unknown): string {
  return Array.isArray(parts) ? parts.map((part) => textOf(asJson(part).text)).join('') : ''
}

function readCallItem(type: string, item: JsonObject): ToolCall {
  const id = nonEmptyText(item.call_id) ?? nonEmptyText(item.id)
  if (type === 'custom_tool_call') return { id, name: joinName(item), input: textOf(item.input) }
  const name = type === 'function_call' ? joinName(item) : type.slice(0, -'_call'.length)
  return { id, name, input: readArguments(item.arguments ?? item.action) }
}

function readOutput(item: JsonObject): ToolResult {
  const nested = asJson(item.output)
  return {
    id: nonEmptyText(item.call_id) ?? nonEmptyText(item.id),
    text: joinedText(item.output) || joinedText(nested.content) || toolNames(item.tools).join('\n'),
    isError: nested.success === false || item.status === 'failed',
  }
}
