import { asArray, type JsonObject } from '../../../core/json-fields.ts'
import type { SseEvent, WireFormat } from './contract.ts'
import { joinDeltas } from './join-deltas.ts'
import { asJson, jsonText } from './json.ts'
import { encodeCount, encodeFailure, encodeModels } from './openai/failure.ts'
import { encode } from './openai-chat/encode.ts'
import { readCall } from './openai-chat/read-call.ts'
import { createReader } from './openai-chat/reader.ts'

/** Joins chunks that contain only more of the same text or of the same arguments. */
function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (chunk) => {
      const piece = readPiece(chunk)
      const run = piece === null ? '' : jsonText([chunk.id, chunk.model, piece.slot])
      return piece === null || run === '' ? null : { run, text: piece.text, begins: !piece.bare }
    },
    write: ([first = {}], text) => ({ ...first, choices: [readPiece(first)?.put(text)] }),
  })
}

interface Piece {
  /** Identifies the text of the chunk; for a call with its index. */
  readonly slot: string
  readonly text: string
  /** Contains nothing else, so it can be joined to the previous chunk. */
  readonly bare: boolean
  readonly put: (text: string) => JsonObject
}

/** null when there is more than one text, or none, or something that must stay in its position. */
function readPiece(chunk: JsonObject): Piece | null {
  const choices = asArray(chunk.choices)
  const choice = asJson(choices[0])
  if (choices.length !== 1 || isSet(chunk.usage) || isSet(chunk.error)) return null
  if (isSet(choice.finish_reason) || isSet(choice.logprobs)) return null
  const delta = asJson(choice.delta)
  const [key, ...others] = filledKeys(delta)
  if (key === undefined || others.length > 0) return null
  const at = `${choice.index ?? 0} ${key}`
  const put = (value: unknown): JsonObject => ({ ...choice, delta: { ...delta, [key]: value } })
  if (key === 'tool_calls') return readCallPiece(at, delta, put)
  const text = delta[key]
  if (typeof text !== 'string' || !textKeys.has(key)) return null
  return { slot: at, text, bare: !isSet(delta.role), put }
}

const textKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning'])

function readCallPiece(at: string, delta: JsonObject, put: (value: unknown) => JsonObject): Piece | null {
  const calls = asArray(delta.tool_calls)
  const call = asJson(calls[0])
  const kind = isSet(call.custom) ? 'custom' : 'function'
  const key = kind === 'custom' ? 'input' : 'arguments'
  const called = asJson(call[kind])
  const text = called[key] ?? ''
  if (calls.length !== 1 || typeof call.index !== 'number' || typeof text !== 'string') return null
  return {
    slot: `${at} ${kind} ${call.index}`,
    text,
    bare: !(isSet(delta.role) || isSet(call.id) || isSet(called.name)),
    put: (joined) => put([{ ...call, [kind]: { ...called, [key]: joined } }]),
  }
}

/** The keys with a value. An empty text that is alone marks the start of a text. */
function filledKeys(delta: JsonObject): readonly string[] {
  const keys = Object.keys(delta).filter((key) => key !== 'role' && isSet(delta[key]))
  const filled = keys.filter((key) => delta[key] !== '')
  return filled.length > 0 ? filled : keys.slice(0, 1)
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** OpenAI Chat Completions, as used by OpenAI and compatible servers. It cannot count tokens. */
export const openaiChat: WireFormat = {
  api: 'openai-chat',
  route: (method, path) => {
    if (method === 'POST' && /\/chat\/completions\/?$/.test(path)) return { kind: 'generate' }
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
