import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import { asJson } from '../json.ts'
import { textOf } from '../openai/words.ts'

export interface ItemDrafts {
  readEvent(type: string, event: JsonObject): void
  /** Items as they would stand in `output`, in their order; what a stream did not finish as far as it came. */
  list(): readonly JsonObject[]
}

interface Draft {
  item: JsonObject
  done: boolean
  /** By the kind of the pieces, in the order in which the first of each came. */
  readonly pieces: Map<string, string[]>
}

/** Which text of an item a delta belongs to. */
const slots: Readonly<Record<string, 'content' | 'summary' | 'arguments' | 'input'>> = {
  'response.output_text.delta': 'content',
  'response.refusal.delta': 'content',
  'response.reasoning_text.delta': 'content',
  'response.reasoning_summary_text.delta': 'summary',
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
}

const types: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'message',
  'response.refusal.delta': 'message',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'function_call',
  'response.custom_tool_call_input.delta': 'custom_tool_call',
}

/** Puts the items of a stream together. A whole item counts for more than its pieces. */
export function createItemDrafts(): ItemDrafts {
  const drafts = new Map<string, Draft>()
  const draftAt = (key: string, item: JsonObject): Draft => {
    const known = drafts.get(key)
    if (known !== undefined) return known
    const draft: Draft = { item, done: false, pieces: new Map() }
    drafts.set(key, draft)
    return draft
  }
  return {
    readEvent: (type, event) => {
      const slot = slots[type]
      if (slot !== undefined) {
        const draft = draftAt(keyOf(event, event.item_id), beginning(types[type] ?? ''))
        const key = `${slot} ${String(event.content_index ?? event.summary_index ?? 0)}`
        const pieces = draft.pieces.get(key) ?? []
        pieces.push(textOf(event.delta))
        draft.pieces.set(key, pieces)
      }
      if (type !== 'response.output_item.added' && type !== 'response.output_item.done') return
      const item = asJson(event.item)
      const draft = draftAt(keyOf(event, item.id), item)
      draft.item = item
      draft.done = type === 'response.output_item.done'
    },
    list: () => [...drafts.values()].map((draft) => (draft.done ? draft.item : filled(draft))),
  }
}

/** The index where it is told, the id otherwise. */
function keyOf({ output_index: index }: JsonObject, id: unknown): string {
  return typeof index === 'number' ? String(index) : `id ${textOf(id)}`
}

function beginning(type: string): JsonObject {
  return type === 'message' ? { type, role: 'assistant' } : { type }
}

function filled({ item, pieces }: Draft): JsonObject {
  const texts = (slot: string): readonly string[] =>
    [...pieces].filter(([key]) => key.startsWith(`${slot} `)).map(([, parts]) => parts.join(''))
  const parts = (slot: 'content' | 'summary'): JsonObject => {
    const told = texts(slot)
    return { [slot]: told.length > 0 ? told.map((text) => ({ text })) : asArray(item[slot]) }
  }
  switch (item.type) {
    case 'message':
      return { ...item, ...parts('content') }
    case 'reasoning':
      return { ...item, ...parts('content'), ...parts('summary') }
    case 'function_call':
      return { ...item, arguments: texts('arguments').join('') || textOf(item.arguments) }
    case 'custom_tool_call':
      return { ...item, input: texts('input').join('') || textOf(item.input) }
    default:
      return item
  }
}
