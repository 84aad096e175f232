import type { ModelCall, Turn } from '../../contract.ts'
import type { EncodedReply, ReplyFacts } from '../contract.ts'
import { jsonReply, streamReply } from '../openai/reply.ts'
import { responsesUsage, writeUsage } from '../openai/usage.ts'
import { encodeSse } from '../sse.ts'
import { itemEvents, type ResponseEvent } from './item-events.ts'
import { outputItem } from './output-items.ts'

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
