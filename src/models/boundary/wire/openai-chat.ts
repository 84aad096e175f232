import { asArray, type JsonObject, parseJson } from '../../../core/json-fields.ts'
import type { Block, CallMessage, ModelCall, StopReason, Turn } from '../contract.ts'
import { callKind } from './call-kind.ts'
import type {
  EncodedReply,
  ReplyFacts,
  ReplyReader,
  ReplyReading,
  SseEvent,
  WireFormat,
  WireRoute,
} from './contract.ts'
import { joinDeltas } from './join-deltas.ts'
import { asCount, asJson, cutText, jsonReply, jsonText } from './json.ts'
import { encodeCount, encodeFailure, encodeModels, errorOfBody } from './openai/failure.ts'
import { chatUsage, readUsage, writeUsage } from './openai/usage.ts'
import { joinedText, nonEmptyText, readArguments, textOf } from './openai/words.ts'
import { createReplyReader } from './reply-reader.ts'
import { encodeSse, streamReply } from './sse.ts'

/** Joins chunks that contain only more of the same text or of the same arguments. */
function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (chunk) => {
      const piece = readPiece(chunk)
      const run = piece === null ? '' : jsonText([chunk.id, chunk.model, piece.slot])
      return piece === null || run === '' ? null : { run, text: piece.text, begins: !piece.bare }
    },
    write: ([first = {}], text) => ({ ...first, choices: [readPiece(first)?.put(text)] }),
  })
}

interface Piece {
  /** Identifies the text of the chunk; for a call with its index. */
  readonly slot: string
  readonly text: string
  /** Contains nothing else, so it can be joined to the previous chunk. */
  readonly bare: boolean
  readonly put: (text: string) => JsonObject
}

/** null when there is more than one text, or none, or something that must stay in its position. */
function readPiece(chunk: JsonObject): Piece | null {
  const choices = asArray(chunk.choices)
  const choice = asJson(choices[0])
  if (choices.length !== 1 || isSet(chunk.usage) || isSet(chunk.error)) return null
  if (isSet(choice.finish_reason) || isSet(choice.logprobs)) return null
  const delta = asJson(choice.delta)
  const [key, ...others] = filledKeys(delta)
  if (key === undefined || others.length > 0) return null
  const at = `${choice.index ?? 0} ${key}`
  const put = (value: unknown): JsonObject => ({ ...choice, delta: { ...delta, [key]: value } })
  if (key === 'tool_calls') return readCallPiece(at, delta, put)
  const text = delta[key]
  if (typeof text !== 'string' || !textKeys.has(key)) return null
  return { slot: at, text, bare: !isSet(delta.role), put }
}

const textKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning'])

function readCallPiece(at: string, delta: JsonObject, put: (value: unknown) => JsonObject): Piece | null {
  const calls = asArray(delta.tool_calls)
  const call = asJson(calls[0])
  const kind = isSet(call.custom) ? 'custom' : 'function'
  const key = kind === 'custom' ? 'input' : 'arguments'
  const called = asJson(call[kind])
  const text = called[key] ?? ''
  if (calls.length !== 1 || typeof call.index !== 'number' || typeof text !== 'string') return null
  return {
    slot: `${at} ${kind} ${call.index}`,
    text,
    bare: !(isSet(delta.role) || isSet(call.id) || isSet(called.name)),
    put: (joined) => put([{ ...call, [kind]: { ...called, [key]: joined } }]),
  }
}

/** The keys with a value. An empty text that is alone marks the start of a text. */
function filledKeys(delta: JsonObject): readonly string[] {
  const keys = Object.keys(delta).filter((key) => key !== 'role' && isSet(delta[key]))
  const filled = keys.filter((key) => delta[key] !== '')
  return filled.length > 0 ? filled : keys.slice(0, 1)
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** OpenAI Chat Completions, as used by OpenAI and compatible servers. It cannot count tokens. */
export const openaiChat: WireFormat = {
  api: 'openai-chat',
  route: (method, path) => {
    if (method === 'POST' && /\/chat\/completions\/?$/.test(path)) return { kind: 'generate' }
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

type ToolCall = Extract<Block, { kind: 'tool_call' }>

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  tools: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
}

function encode(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
  const head = { id: `chatcmpl-${facts.id}`, created: facts.created, model: turn.model ?? call.model }
  return call.stream ? streamReply(stream(turn, head)) : jsonReply(whole(turn, head))
}

interface Head {
  readonly id: string
  readonly created: number
  readonly model: string
}

function whole(turn: Turn, { id, created, model }: Head): unknown {
  const text = joined(turn.blocks, 'text')
  const thinking = joined(turn.blocks, 'thinking')
  const calls = turn.blocks.filter(isCall)
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: null,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map((block) => wholeCall(block)) }),
  }
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[turn.stop] }],
    usage: writeUsage(chatUsage, turn.usage),
  }
}

/** Usage is always sent, even if the client did not request it: clients accept it, and the meter needs it. */
function stream(turn: Turn, { id, created, model }: Head): string[] {
  const send = (choices: readonly unknown[], usage: unknown = null): string =>
    encodeSse({
      data: JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices, usage }),
    })
  const choice = (delta: unknown, finishReason: string | null = null): string =>
    send([{ index: 0, delta, logprobs: null, finish_reason: finishReason }])
  return [
    choice({ role: 'assistant', content: '' }),
    ...deltas(turn.blocks).map((delta) => choice(delta)),
    choice({}, finishReasons[turn.stop]),
    send([], writeUsage(chatUsage, turn.usage)),
    encodeSse({ data: '[DONE]' }),
  ]
}

function deltas(blocks: readonly Block[]): readonly unknown[] {
  const calls = blocks.filter(isCall)
  return blocks.flatMap((block) => {
    if (block.kind === 'text') return cutText(block.text).map((content) => ({ content }))
    if (block.kind === 'thinking') return cutText(block.text).map((piece) => ({ reasoning_content: piece }))
    return callDeltas(block, calls.indexOf(block))
  })
}

function callDeltas({ id, name, input }: ToolCall, index: number): readonly unknown[] {
  const delta = (call: object): unknown => ({ tool_calls: [{ index, ...call }] })
  if (typeof input === 'string') {
    return [
      delta({ id, type: 'custom', custom: { name, input: '' } }),
      ...cutText(input).map((piece) => delta({ custom: { input: piece } })),
    ]
  }
  return [
    delta({ id, type: 'function', function: { name, arguments: '' } }),
    ...cutText(argumentsOf(input)).map((piece) => delta({ function: { arguments: piece } })),
  ]
}

function wholeCall({ id, name, input }: ToolCall): unknown {
  return typeof input === 'string'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: argumentsOf(input) } }
}

function argumentsOf(input: unknown): string {
  return JSON.stringify(input ?? {})
}

function joined(blocks: readonly Block[], kind: 'text' | 'thinking'): string {
  return blocks.map((block) => (block.kind === kind ? block.text : '')).join('')
}

function isCall(block: Block): block is ToolCall {
  return block.kind === 'tool_call'
}

interface CallDraft {
  id: string | null
  name: string
  readonly pieces: string[]
  custom: boolean
}

function createReader(contentType: string): ReplyReader {
  return createReplyReader(contentType, (draft) => {
    const calls = new Map<string, CallDraft>()
    const readHead = (body: JsonObject): void => {
      draft.model = nonEmptyText(body.model) ?? draft.model
      draft.tokens = readUsage(chatUsage, body.usage) ?? draft.tokens
      draft.error = errorOfBody(body) ?? draft.error
      if (draft.error !== null) draft.complete = true
    }
    const readWords = (words: JsonObject): void => {
      draft.text.push(joinedText(words.content), textOf(words.refusal))
      // Servers that send both fields send the same text twice.
      draft.thinking.push(nonEmptyText(words.reasoning_content) ?? textOf(words.reasoning))
    }
    return {
      readEvent: ({ data }: SseEvent) => {
        if (data.trim() === '[DONE]') {
          draft.complete = true
          return
        }
        const chunk = asJson(parseJson(data))
        readHead(chunk)
        const delta = asJson(asJson(firstChoice(chunk)).delta)
        readWords(delta)
        addCalls(calls, delta)
      },
      readDocument: (document) => {
        const body = asJson(document)
        readHead(body)
        const choice = firstChoice(body)
        const message = asJson(asJson(choice).message)
        readWords(message)
        draft.toolCalls.push(...readToolCalls(message))
        draft.complete ||= choice !== undefined
      },
      finish: () => void draft.toolCalls.push(...[...calls.values()].map(finishCall)),
    }
  })
}

/** Only the first choice is read. */
function firstChoice(body: JsonObject): unknown {
  const choices = asArray(body.choices)
  return choices.find((choice) => (asJson(choice).index ?? 0) === 0)
}

function addCalls(calls: Map<string, CallDraft>, delta: JsonObject): void {
  for (const item of asArray(delta.tool_calls)) {
    const call = asJson(item)
    const custom = asJson(call.custom)
    const isCustom = call.type === 'custom' || call.custom !== undefined
    const called = isCustom ? custom : asJson(call.function)
    addPiece(calls, callKey(calls, call), nonEmptyText(call.id), called, isCustom)
  }
  const old = asJson(delta.function_call)
  if (old.name !== undefined || old.arguments !== undefined)
    addPiece(calls, 'function_call', null, old, false)
}

/** Google's server sends no index: there an id starts a call, and a piece without one continues the last call. */
function callKey(calls: Map<string, CallDraft>, call: JsonObject): string {
  if (typeof call.index === 'number') return String(call.index)
  const id = nonEmptyText(call.id)
  return id === null ? ([...calls.keys()].at(-1) ?? '') : `id ${id}`
}

function addPiece(
  calls: Map<string, CallDraft>,
  key: string,
  id: string | null,
  called: JsonObject,
  custom: boolean,
): void {
  const known = calls.get(key) ?? { id: null, name: '', pieces: [], custom }
  known.id ??= id
  known.name ||= textOf(called.name)
  const piece = custom ? called.input : called.arguments
  known.pieces.push(typeof piece === 'string' ? piece : jsonText(piece ?? undefined))
  calls.set(key, known)
}

function finishCall({ id, name, pieces, custom }: CallDraft): ReplyReading['toolCalls'][number] {
  const written = pieces.join('')
  return { id, name, input: custom ? written : readArguments(written) }
}

function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const messages = asArray(request.messages).map(asJson)
  const read = {
    api: 'openai-chat',
    model: textOf(request.model),
    stream: request.stream === true,
    system: messages
      .filter(isSystem)
      .map((message) => joinedText(message.content))
      .join('\n'),
    messages: messages.slice(leading(messages)).map(readMessage),
    tools: [...asArray(request.tools).map(toolName), ...asArray(request.functions).map(nameOf)].filter(
      (name) => name !== null,
    ),
    maxOutputTokens: asCount(request.max_completion_tokens) ?? asCount(request.max_tokens) ?? null,
  } as const
  return { ...read, kind: callKind(route, read) }
}

/** System messages at the start are the system prompt; later ones also stay in their position. */
function leading(messages: readonly JsonObject[]): number {
  const first = messages.findIndex((message) => !isSystem(message))
  return first === -1 ? messages.length : first
}

function isSystem(message: JsonObject): boolean {
  return message.role === 'system' || message.role === 'developer'
}

function readMessage(message: JsonObject): CallMessage {
  const text = joinedText(message.content)
  if (message.role === 'tool' || message.role === 'function') {
    const id = nonEmptyText(message.tool_call_id)
    return { role: 'tool', text: '', toolCalls: [], toolResults: [{ id, text, isError: false }] }
  }
  if (isSystem(message)) return { role: 'system', text, toolCalls: [], toolResults: [] }
  if (message.role !== 'assistant') return { role: 'user', text, toolCalls: [], toolResults: [] }
  return { role: 'assistant', text, toolCalls: readToolCalls(message), toolResults: [] }
}

/** The calls of a message, in a request or in an answer: of functions, of free-form tools, and the legacy function call. */
function readToolCalls(message: JsonObject): CallMessage['toolCalls'] {
  const calls = asArray(message.tool_calls).map((item) => {
    const call = asJson(item)
    const custom = asJson(call.custom)
    const id = nonEmptyText(call.id)
    return typeof custom.name === 'string'
      ? { id, name: custom.name, input: textOf(custom.input) }
      : { id, ...readFunction(asJson(call.function)) }
  })
  const old = asJson(message.function_call)
  return typeof old.name === 'string' ? [...calls, { id: null, ...readFunction(old) }] : calls
}

function readFunction(called: JsonObject): { name: string; input: unknown } {
  return { name: textOf(called.name), input: readArguments(called.arguments) }
}

function toolName(tool: unknown): string | null {
  const fields = asJson(tool)
  return nameOf(fields.function) ?? nameOf(fields.custom) ?? nameOf(tool) ?? nonEmptyText(fields.type)
}

function nameOf(value: unknown): string | null {
  return nonEmptyText(asJson(value).name)
}
