import type { Block, ModelCall, Turn } from '../../contract.ts'
import type { EncodedReply, ReplyFacts } from '../contract.ts'
import { cutText, jsonReply } from '../json.ts'
import { responsesUsage, writeUsage } from '../openai/usage.ts'
import { encodeSse, streamReply } from '../sse.ts'
import { splitName } from './tool-name.ts'

/** An event without its sequence number. */
export type ResponseEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** The stream of one item: announced empty, sent in pieces, sent complete. */
function itemEvents(item: OutputItem, outputIndex: number): readonly ResponseEvent[] {
  const at = { item_id: item.id, output_index: outputIndex }
  return [
    { type: 'response.output_item.added', output_index: outputIndex, item: begun(item) },
    ...pieceEvents(item, at),
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ]
}

type At = Readonly<Record<string, unknown>>

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
      return partEvents('content_part', 'output_text', item.content[0], { ...at, content_index: 0 })
    case 'reasoning':
      return partEvents('reasoning_summary_part', 'reasoning_summary_text', item.summary[0], {
        ...at,
        summary_index: 0,
      })
    case 'function_call': {
      const { name, arguments: text } = item
      return textEvents('function_call_arguments', text, at, { name, arguments: text })
    }
    case 'custom_tool_call':
      return textEvents('custom_tool_call_input', item.input, at, { input: item.input })
    case 'tool_search_call':
      return []
  }
}

function partEvents(
  name: string,
  textName: string,
  part: { readonly text: string },
  at: At,
): readonly ResponseEvent[] {
  return [
    { type: `response.${name}.added`, ...at, part: { ...part, text: '' } },
    ...textEvents(textName, part.text, at, { text: part.text }),
    { type: `response.${name}.done`, ...at, part },
  ]
}

function textEvents(name: string, text: string, at: At, whole: object): readonly ResponseEvent[] {
  return [
    ...cutText(text).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
    { type: `response.${name}.done`, ...at, ...whole },
  ]
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

type OutputItem = ReturnType<typeof outputItem>

/** A complete block as an item of `output`. */
function outputItem(block: Block, index: number, call: ModelCall, id: string) {
  const own = `${id}_${index}`
  switch (block.kind) {
    case 'text':
      return {
        type: 'message',
        id: `msg_${own}`,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: block.text, annotations: [] }],
      } as const
    case 'thinking': {
      const summary = [{ type: 'summary_text', text: block.text }] as const
      return { type: 'reasoning', id: `rs_${own}`, summary } as const
    }
    case 'tool_call':
      return callItem(block, own, call.tools)
  }
}

function callItem(
  { id, name, input }: Extract<Block, { kind: 'tool_call' }>,
  own: string,
  offered: readonly string[],
) {
  const facts = { call_id: id, status: 'completed' }
  const names = splitName(name, offered)
  if (typeof input === 'string')
    return { type: 'custom_tool_call', id: `ctc_${own}`, ...facts, ...names, input } as const
  const given = input ?? {}
  // A client tool that has its own type instead of a name.
  if (name === 'tool_search' && offered.includes(name)) {
    const search = { ...facts, execution: 'client', arguments: given }
    return { type: 'tool_search_call', id: `tsc_${own}`, ...search } as const
  }
  const written = JSON.stringify(given)
  return { type: 'function_call', id: `fc_${own}`, ...facts, ...names, arguments: written } as const
}
