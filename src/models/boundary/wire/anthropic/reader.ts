import { asArray, asString, isObject, type JsonObject, parseJson } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading } from '../contract.ts'
import { asJson } from '../json.ts'
import { createReplyReader } from '../reply-reader.ts'
import { readDelta } from './merge-deltas.ts'
import { readUsage } from './usage.ts'

export function createReader(contentType: string): ReplyReader {
  const blocks = new Map<unknown, GrowingBlock>()
  let model: string | null = null
  let tokens: TokenUsage | null = null
  let error: ReplyReading['error'] = null
  let complete = false

  const readMessage = (message: JsonObject): void => {
    model = asString(message.model) ?? model
    tokens = readUsage(tokens, message.usage)
    for (const [index, block] of asArray(message.content).entries()) openBlock(index, asJson(block))
  }
  const openBlock = (index: unknown, block: JsonObject): void => {
    blocks.set(index, { block, text: [asString(block.text) ?? asString(block.thinking) ?? ''], json: [] })
  }
  const readEvent = (event: JsonObject): void => {
    switch (event.type) {
      case 'message_start':
        readMessage(asJson(event.message))
        return
      case 'content_block_start':
        openBlock(event.index, asJson(event.content_block))
        return
      case 'content_block_delta': {
        const delta = readDelta(event.delta)
        const block = blocks.get(event.index)
        if (delta !== null) (delta.field === 'partial_json' ? block?.json : block?.text)?.push(delta.text)
        return
      }
      case 'message_delta':
        tokens = readUsage(tokens, event.usage)
        return
      case 'message_stop':
        complete = true
        return
      case 'error':
        error = readError(event.error)
        return
    }
  }
  return createReplyReader(contentType, {
    readEvent: ({ data }) => readEvent(asJson(parseJson(data))),
    readDocument: (document) => {
      if (!isObject(document)) return
      complete = true
      if (document.type === 'error') error = readError(document.error)
      else readMessage(document)
    },
    finish: () => {
      const all = [...blocks.values()]
      return {
        model,
        tokens,
        text: textOf(all, 'text'),
        thinking: textOf(all, 'thinking'),
        toolCalls: all.filter(({ block }) => block.type === 'tool_use').map(readToolCall),
        complete,
        error,
      }
    },
  })
}

/** The start event of a block with its deltas applied. */
interface GrowingBlock {
  readonly block: JsonObject
  readonly text: string[]
  readonly json: string[]
}

function textOf(blocks: readonly GrowingBlock[], type: string): string {
  return blocks.flatMap((grown) => (grown.block.type === type ? grown.text : [])).join('')
}

function readToolCall({ block, json }: GrowingBlock): ReplyReading['toolCalls'][number] {
  const written = json.join('')
  return {
    id: asString(block.id) ?? null,
    name: asString(block.name) ?? '',
    // Truncated arguments are not JSON; they are kept unchanged.
    input: written === '' ? (block.input ?? {}) : (parseJson(written) ?? written),
  }
}

function readError(value: unknown): ReplyReading['error'] {
  const { type, message } = asJson(value)
  return { type: asString(type) ?? null, message: asString(message) ?? '' }
}
