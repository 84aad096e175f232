import { asArray, asString, isObject, type JsonObject, parseJson } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading, SseEvent } from '../contract.ts'
import { joinDeltas } from '../join-deltas.ts'
import { asCount, asJson, layOver } from '../json.ts'
import { createReplyReader } from '../reply-reader.ts'

export function createReader(contentType: string): ReplyReader {
  return createReplyReader(contentType, (draft) => {
    const blocks = new Map<unknown, GrowingBlock>()
    const readMessage = (message: JsonObject): void => {
      draft.model = asString(message.model) ?? draft.model
      draft.tokens = readUsage(draft.tokens, message.usage)
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
          draft.tokens = readUsage(draft.tokens, event.usage)
          return
        case 'message_stop':
          draft.complete = true
          return
        case 'error':
          draft.error = readError(event.error)
          return
      }
    }
    return {
      readEvent: ({ data }) => readEvent(asJson(parseJson(data))),
      readDocument: (document) => {
        if (!isObject(document)) return
        draft.complete = true
        if (document.type === 'error') draft.error = readError(document.error)
        else readMessage(document)
      },
      finish: () => {
        for (const grown of blocks.values()) {
          if (grown.block.type === 'text') draft.text.push(grown.text.join(''))
          if (grown.block.type === 'thinking') draft.thinking.push(grown.text.join(''))
          if (grown.block.type === 'tool_use') draft.toolCalls.push(readToolCall(grown))
        }
      },
    }
  })
}

/** The start event of a block with its deltas applied. */
interface GrowingBlock {
  readonly block: JsonObject
  readonly text: string[]
  readonly json: string[]
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

export function writeUsage({ input, output, cacheRead, cacheWrite, thinking }: TokenUsage): JsonObject {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
    service_tier: 'standard',
  }
}

/** Null when the provider did not report usage. A stream reports it twice, and the later value wins. */
function readUsage(earlier: TokenUsage | null, received: unknown): TokenUsage | null {
  const usage = asJson(received)
  const output = asCount(usage.output_tokens)
  const input = asCount(usage.input_tokens)
  if (output === undefined && input === undefined) return earlier
  const thinking = asCount(asJson(usage.output_tokens_details).thinking_tokens) ?? earlier?.thinking
  return {
    input: input ?? earlier?.input ?? 0,
    output: output ?? earlier?.output ?? 0,
    cacheRead: asCount(usage.cache_read_input_tokens) ?? earlier?.cacheRead ?? 0,
    cacheWrite: asCount(usage.cache_creation_input_tokens) ?? earlier?.cacheWrite ?? 0,
    ...(thinking !== undefined && { thinking }),
  }
}

export function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const delta = body.type === 'content_block_delta' ? readDelta(body.delta) : null
      if (delta === null || typeof body.index !== 'number') return null
      return { run: `${body.index} ${delta.field}`, text: delta.text }
    },
    write: (bodies, text) => {
      const delta = layOver(bodies.map((body) => asJson(body.delta)))
      const field = readDelta(delta)?.field ?? 'text'
      return { ...layOver(bodies), delta: { ...delta, [field]: text } }
    },
    isAside: ({ type }) => type === 'ping',
  })
}

/** The field with the text of each kind of delta. */
const growing = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' } as const

/** null for a delta that adds no text, such as a signature or a citation. */
function readDelta(value: unknown) {
  const delta = asJson(value)
  const field = isGrowing(delta.type) ? growing[delta.type] : undefined
  const text = field === undefined ? undefined : delta[field]
  return field !== undefined && typeof text === 'string' ? { field, text } : null
}

function isGrowing(type: unknown): type is keyof typeof growing {
  return typeof type === 'string' && Object.hasOwn(growing, type)
}
