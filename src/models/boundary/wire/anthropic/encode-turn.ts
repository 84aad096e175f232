import type { JsonObject } from '../../../../core/json-fields.ts'
import type { Block, ModelCall, StopReason, Turn } from '../../contract.ts'
import type { EncodedReply, ReplyFacts } from '../contract.ts'
import { cutText, jsonReply, toolInput } from '../json.ts'
import { encodeSse, streamReply } from '../sse.ts'
import { writeUsage } from './usage.ts'

const stopReasons: Record<StopReason, string> = {
  end: 'end_turn',
  tools: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
}

export function encodeTurn(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
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
function blockParts(
  block: Block,
  signature: string,
): { readonly empty: JsonObject; readonly deltas: readonly JsonObject[] } {
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
