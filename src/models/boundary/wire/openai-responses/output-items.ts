import type { Block, ModelCall } from '../../contract.ts'
import { splitName } from './tool-name.ts'

/** A block as it stands in `output` when it is whole. */
export type OutputItem = MessageItem | ReasoningItem | CallItem

export interface MessageItem {
  readonly type: 'message'
  readonly id: string
  readonly status: 'completed'
  readonly role: 'assistant'
  readonly content: readonly [
    { readonly type: 'output_text'; readonly text: string; readonly annotations: readonly never[] },
  ]
}

export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id: string
  readonly summary: readonly [{ readonly type: 'summary_text'; readonly text: string }]
}

export type CallItem = {
  readonly id: string
  readonly call_id: string
  readonly status: 'completed'
} & (
  | {
      readonly type: 'function_call'
      readonly namespace?: string
      readonly name: string
      readonly arguments: string
    }
  | {
      readonly type: 'custom_tool_call'
      readonly namespace?: string
      readonly name: string
      readonly input: string
    }
  | { readonly type: 'tool_search_call'; readonly execution: 'client'; readonly arguments: unknown }
)

export function outputItem(block: Block, index: number, call: ModelCall, id: string): OutputItem {
  const own = `${id}_${index}`
  switch (block.kind) {
    case 'text':
      return {
        type: 'message',
        id: `msg_${own}`,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: block.text, annotations: [] }],
      }
    case 'thinking':
      return { type: 'reasoning', id: `rs_${own}`, summary: [{ type: 'summary_text', text: block.text }] }
    case 'tool_call':
      return callItem(block, own, call.tools)
  }
}

function callItem(
  { id, name, input }: Extract<Block, { kind: 'tool_call' }>,
  own: string,
  offered: readonly string[],
): CallItem {
  const facts = { call_id: id, status: 'completed' } as const
  if (typeof input === 'string') {
    return { type: 'custom_tool_call', id: `ctc_${own}`, ...facts, ...splitName(name, offered), input }
  }
  // A tool of the client's that has a type of its own instead of a name.
  if (name === 'tool_search' && offered.includes(name)) {
    return {
      type: 'tool_search_call',
      id: `tsc_${own}`,
      ...facts,
      execution: 'client',
      arguments: input ?? {},
    }
  }
  const written = JSON.stringify(input ?? {})
  return { type: 'function_call', id: `fc_${own}`, ...facts, ...splitName(name, offered), arguments: written }
}
