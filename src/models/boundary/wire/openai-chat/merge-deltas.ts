import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import type { SseEvent } from '../contract.ts'
import { asJson, jsonText, parseJson } from '../json.ts'

/** Joins chunks that carry nothing but more of the same text or of the same arguments. */
export function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  const merged: { event: SseEvent; piece: Piece | null; changed: boolean }[] = []
  for (const event of events) {
    const piece = readPiece(event)
    const last = merged.at(-1)
    if (last?.piece && piece && continues(last.piece, piece, last.event.event === event.event)) {
      last.piece = { ...last.piece, text: last.piece.text + piece.text }
      last.changed = true
    } else merged.push({ event, piece, changed: false })
  }
  return merged.map(({ event, piece, changed }) => (changed && piece ? writePiece(event, piece) : event))
}

interface Piece {
  readonly chunk: JsonObject
  /** Which text of the chunk it is; a call with its index. */
  readonly slot: string
  readonly text: string
  /** Holds nothing else, so that it may be taken up by the chunk before. */
  readonly bare: boolean
  readonly put: (text: string) => JsonObject
}

function continues(before: Piece, piece: Piece, sameName: boolean): boolean {
  const sameAnswer = piece.chunk.id === before.chunk.id && piece.chunk.model === before.chunk.model
  return sameName && sameAnswer && piece.bare && piece.slot === before.slot
}

function writePiece(event: SseEvent, piece: Piece): SseEvent {
  return { ...event, data: JSON.stringify({ ...piece.chunk, choices: [piece.put(piece.text)] }) }
}

/** null: more than one text, or none, or something that must stay where it is. */
function readPiece({ data }: SseEvent): Piece | null {
  const chunk = asJson(parseJson(data))
  const choices = asArray(chunk.choices)
  const choice = asJson(choices[0])
  if (choices.length !== 1 || isSet(chunk.usage) || isSet(chunk.error)) return null
  if (isSet(choice.finish_reason) || isSet(choice.logprobs) || jsonText(chunk) === '') return null
  const delta = asJson(choice.delta)
  const [key, ...others] = filledKeys(delta)
  if (key === undefined || others.length > 0) return null
  const at = `${choice.index ?? 0} ${key}`
  const put = (value: unknown): JsonObject => ({ ...choice, delta: { ...delta, [key]: value } })
  if (key === 'tool_calls') return readCallPiece(chunk, at, delta, put)
  const text = delta[key]
  if (typeof text !== 'string' || !textKeys.has(key)) return null
  return { chunk, slot: at, text, bare: !isSet(delta.role), put }
}

const textKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning'])

function readCallPiece(
  chunk: JsonObject,
  at: string,
  delta: JsonObject,
  put: (value: unknown) => JsonObject,
): Piece | null {
  const calls = asArray(delta.tool_calls)
  const call = asJson(calls[0])
  const kind = isSet(call.custom) ? 'custom' : 'function'
  const key = kind === 'custom' ? 'input' : 'arguments'
  const called = asJson(call[kind])
  const text = called[key] ?? ''
  if (calls.length !== 1 || typeof call.index !== 'number' || typeof text !== 'string') return null
  return {
    chunk,
    slot: `${at} ${kind} ${call.index}`,
    text,
    bare: !(isSet(delta.role) || isSet(call.id) || isSet(called.name)),
    put: (joined) => put([{ ...call, [kind]: { ...called, [key]: joined } }]),
  }
}

/** The keys that say something. An empty text says that a text begins, when it is alone. */
function filledKeys(delta: JsonObject): readonly string[] {
  const keys = Object.keys(delta).filter((key) => key !== 'role' && isSet(delta[key]))
  const filled = keys.filter((key) => delta[key] !== '')
  return filled.length > 0 ? filled : keys.slice(0, 1)
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
