import { asArray } from '../../../core/json-fields.ts'
import type { CallMessage, ModelCall } from '../contract.ts'
import { callKind } from './call-kind.ts'
import type { SseEvent, WireFormat, WireRoute } from './contract.ts'
import { joinDeltas } from './join-deltas.ts'
import { asCount, asJson, jsonText } from './json.ts'
import { encodeCount, encodeFailure, encodeModels } from './openai/failure.ts'
import { textOf } from './openai/words.ts'
import { encode } from './openai-responses/item-events.ts'
import { type ReadItem, readItem } from './openai-responses/read-item.ts'
import { createReader } from './openai-responses/reader.ts'
import { toolNames } from './openai-responses/tool-name.ts'

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
