import { asArray, asString, isObject, type JsonObject } from '../../../core/json-fields.ts'
import type { Block, CallMessage, ModelCall, StopReason, Turn } from '../contract.ts'
import { createReader, mergeDeltas, writeUsage } from './anthropic/reader.ts'
import { callKind } from './call-kind.ts'
import type { EncodedReply, ReplyFacts, WireFormat, WireRoute } from './contract.ts'
import { asCount, asJson, cutText, jsonReply, toolInput } from './json.ts'
import { encodeSse, streamReply } from './sse.ts'

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** Anthropic's Messages API, as used by Claude Code and the Agent SDK. */
export const anthropic: WireFormat = {
  api: 'anthropic',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount: (tokens) => jsonReply({ input_tokens: tokens }),
  encodeModels: (models) =>
    jsonReply({
      data: models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' })),
      has_more: false,
      first_id: models[0] ?? null,
      last_id: models.at(-1) ?? null,
    }),
  encodeFailure(failure) {
    const { status, message, type = types[status] ?? (status < 500 ? types[400] : types[500]) } = failure
    const requestId = `req_failure_${status}`
    const body = { type: 'error', error: { type, message }, request_id: requestId }
    return jsonReply(body, { 'request-id': requestId }, failure)
  },
  createReader,
  mergeDeltas,
}

/** Any prefix is accepted: clients have a base URL with or without `/v1`. */
function route(method: string, path: string): WireRoute | null {
  const place = /(?:^|\/)(messages|messages\/count_tokens|v1\/models)\/?$/.exec(path)?.[1]
  if (method === 'POST' && place === 'messages') return { kind: 'generate' }
  if (method === 'POST' && place === 'messages/count_tokens') return { kind: 'count_tokens' }
  if (method === 'GET' && place === 'v1/models') return { kind: 'list_models' }
  return null
}

function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const messages = asArray(request.messages).filter(isObject).map(readMessage)
  // Claude Code sends system messages in the middle of a conversation.
  const systemTexts = messages.filter(({ role }) => role === 'system').map(({ text }) => text)
  const facts = {
    system: [textOf(request.system), ...systemTexts].filter((text) => text !== '').join('\n'),
    messages,
    tools: asArray(request.tools).flatMap((tool) => asString(asJson(tool).name) ?? []),
  }
  return {
    api: 'anthropic',
    kind: callKind(route, facts),
    model: asString(request.model) ?? '',
    stream: request.stream === true,
    ...facts,
    maxOutputTokens: asCount(request.max_tokens) ?? null,
  }
}

function readMessage({ role, content }: JsonObject): CallMessage {
  const blocks = asArray(content).filter(isObject)
  return {
    role: role === 'assistant' || role === 'system' ? role : 'user',
    text: textOf(content),
    toolCalls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: asString(id) ?? null, name: asString(name) ?? '', input })),
    toolResults: blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block) => ({
        id: asString(block.tool_use_id) ?? null,
        text: textOf(block.content),
        isError: block.is_error === true,
      })),
  }
}

/** Content is a text or a list of blocks; only text blocks are read. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .flatMap((block) => {
      const { type, text } = asJson(block)
      return type === 'text' && typeof text === 'string' ? [text] : []
    })
    .join('\n')
}

const stopReasons: Record<StopReason, string> = {
  end: 'end_turn',
  tools: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
}

function encodeTurn(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
  const message = {
    id: `msg_${facts.id}`,
    type: 'message',
    role: 'assistant',
    model: turn.model ?? call.model,
  }
  const ending = { stop_reason: stopReasons[turn.stop], stop_sequence: null }
  const usage = writeUsage(turn.usage)
  const signature = (index: number): string =>
    Buffer.from(`gantry thinking ${facts.id} ${index}`).toString('base64')
  const headers = { 'request-id': `req_${facts.id}` }
  if (!call.stream) {
    const content = turn.blocks.map((block, index) => writeBlock(block, signature(index)))
    return jsonReply({ ...message, content, ...ending, usage }, headers)
  }
  // A real stream starts with the usage of the prompt and almost no output.
  const { thinking: _, ...begun } = { ...turn.usage, output: Math.min(1, turn.usage.output) }
  const events: readonly TypedEvent[] = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: writeUsage(begun) },
    },
    { type: 'ping' },
    ...turn.blocks.flatMap((block, index) => streamBlock(block, index, signature(index))),
    { type: 'message_delta', delta: ending, usage },
    { type: 'message_stop' },
  ]
  const chunks = events.map((event) => encodeSse({ event: event.type, data: JSON.stringify(event) }))
  return streamReply(chunks, headers)
}

type TypedEvent = JsonObject & { readonly type: string }

function writeBlock(block: Block, signature: string): JsonObject {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature }
    case 'tool_call':
      return { type: 'tool_use', id: block.id, name: block.name, input: toolInput(block.input) }
  }
}

function streamBlock(block: Block, index: number, signature: string): readonly TypedEvent[] {
  const { empty, deltas } = blockParts(block, signature)
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** The start event of a block, and the deltas that fill it. */
function blockParts(block: Block, signature: string) {
  switch (block.kind) {
    case 'text':
      return {
        empty: { type: 'text', text: '' },
        deltas: cutText(block.text).map((text) => ({ type: 'text_delta', text })),
      }
    case 'thinking':
      return {
        empty: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...cutText(block.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature },
        ],
      }
    case 'tool_call':
      return {
        empty: { type: 'tool_use', id: block.id, name: block.name, input: {} },
        deltas: cutText(JSON.stringify(toolInput(block.input))).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      }
  }
}
