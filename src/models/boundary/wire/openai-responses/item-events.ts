import type { ModelCall, Turn } from '../../contract.ts'
import type { EncodedReply, ReplyFacts } from '../contract.ts'
import { cutText } from '../json.ts'
import { jsonReply, streamReply } from '../openai/failure.ts'
import { responsesUsage, writeUsage } from '../openai/usage.ts'
import { encodeSse } from '../sse.ts'
import {
  type CallItem,
  type MessageItem,
  type OutputItem,
  outputItem,
  type ReasoningItem,
} from './output-items.ts'

/** An event without its number. */
export type ResponseEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** How one item is streamed: announced empty, told in pieces, told whole. */
export function itemEvents(item: OutputItem, outputIndex: number): readonly ResponseEvent[] {
  const at = { item_id: item.id, output_index: outputIndex }
  return [
    { type: 'response.output_item.added', output_index: outputIndex, item: begun(item) },
    ...pieceEvents(item, at),
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ]
}

type At = { readonly item_id: string; readonly output_index: number }

function begun(item: OutputItem): unknown {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'reasoning':
      return { ...item, summary: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' }
    case 'tool_search_call':
      return { ...item, status: 'in_progress' }
  }
}

function pieceEvents(item: OutputItem, at: At): readonly ResponseEvent[] {
  switch (item.type) {
    case 'message':
      return messageEvents(item, at)
    case 'reasoning':
      return reasoningEvents(item, at)
    default:
      return callEvents(item, at)
  }
}

function messageEvents({ content: [part] }: MessageItem, item: At): readonly ResponseEvent[] {
  const at = { ...item, content_index: 0 }
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...cutText(part.text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text: part.text },
    { type: 'response.content_part.done', ...at, part },
  ]
}

function reasoningEvents({ summary: [part] }: ReasoningItem, item: At): readonly ResponseEvent[] {
  const at = { ...item, summary_index: 0 }
  return [
    { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
    ...cutText(part.text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
    { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
    { type: 'response.reasoning_summary_part.done', ...at, part },
  ]
}

function callEvents(item: CallItem, at: At): readonly ResponseEvent[] {
  switch (item.type) {
    case 'function_call':
      return [
        ...cutText(item.arguments).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...at,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
      ]
    case 'custom_tool_call':
      return [
        ...cutText(item.input).map((delta) => ({
          type: 'response.custom_tool_call_input.delta',
          ...at,
          delta,
        })),
        { type: 'response.custom_tool_call_input.done', ...at, input: item.input },
      ]
    case 'tool_search_call':
      return []
  }
}

export function encode(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
  const output = turn.blocks.map((block, index) => outputItem(block, index, call, facts.id))
  const begun = {
    id: `resp_${facts.id}`,
    object: 'response',
    created_at: facts.created,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: turn.model ?? call.model,
    output: [],
    usage: null,
  }
  const ended = { ...begun, ...ending(turn), output, usage: writeUsage(responsesUsage, turn.usage) }
  if (!call.stream) return jsonReply(ended)
  const events: readonly ResponseEvent[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(itemEvents),
    { type: `response.${ended.status}`, response: ended },
  ]
  return streamReply(events.map(encodeEvent))
}

function ending({ stop }: Turn): { status: 'completed' | 'incomplete'; incomplete_details: unknown } {
  switch (stop) {
    case 'end':
    case 'tools':
      return { status: 'completed', incomplete_details: null }
    case 'length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    case 'refusal':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
  }
}

function encodeEvent({ type, ...rest }: ResponseEvent, index: number): string {
  return encodeSse({ event: type, data: JSON.stringify({ type, sequence_number: index, ...rest }) })
}
