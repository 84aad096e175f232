import type { Block, ModelCall, StopReason, Turn } from '../../contract.ts'
import type { EncodedReply, ReplyFacts } from '../contract.ts'
import { cutText, jsonReply } from '../json.ts'
import { chatUsage, writeUsage } from '../openai/usage.ts'
import { encodeSse, streamReply } from '../sse.ts'

type ToolCall = Extract<Block, { kind: 'tool_call' }>

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  tools: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
}

export function encode(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
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
