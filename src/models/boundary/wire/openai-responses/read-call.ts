import { asArray } from '../../../../core/json-fields.ts'
import type { CallMessage, ModelCall } from '../../contract.ts'
import { callKind } from '../call-kind.ts'
import type { WireRoute } from '../contract.ts'
import { asCount, asJson } from '../json.ts'
import { textOf } from '../openai/words.ts'
import { type ReadItem, readItem } from './read-item.ts'
import { toolNames } from './tool-name.ts'

export function readCall(body: unknown, route: WireRoute): ModelCall {
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

/** Tools come in the conversation too: Codex tells them to some models there, and what a search of tools found is one. */
function toolsOfItem(value: unknown): readonly string[] {
  const item = asJson(value)
  return item.type === 'additional_tools' || item.type === 'tool_search_output' ? toolNames(item.tools) : []
}

/**
 * What the model said at one time is one message, however many items it is: the number of assistant messages is the
 * number of answers. System text that opens the conversation is left out, as it is told apart.
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
