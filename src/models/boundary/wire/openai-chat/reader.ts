import { asArray, type JsonObject, parseJson } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading, SseEvent } from '../contract.ts'
import { asJson, jsonText } from '../json.ts'
import { errorOfBody } from '../openai/failure.ts'
import { chatUsage, readUsage } from '../openai/usage.ts'
import { joinedText, nonEmptyText, readArguments, textOf } from '../openai/words.ts'
import { createReplyReader } from '../reply-body.ts'
import { readToolCalls } from './read-call.ts'

interface CallDraft {
  id: string | null
  name: string
  readonly pieces: string[]
  custom: boolean
}

export function createReader(contentType: string): ReplyReader {
  let model: string | null = null
  let tokens: TokenUsage | null = null
  let error: ReplyReading['error'] = null
  let ended = false
  let whole: ReplyReading['toolCalls'] = []
  const text: string[] = []
  const thinking: string[] = []
  const calls = new Map<string, CallDraft>()

  const readHead = (body: JsonObject): void => {
    model = nonEmptyText(body.model) ?? model
    tokens = readUsage(chatUsage, body.usage) ?? tokens
    error = errorOfBody(body) ?? error
    if (error !== null) ended = true
  }
  const readWords = (words: JsonObject): void => {
    text.push(joinedText(words.content), textOf(words.refusal))
    // Servers that send both fields send the same text twice.
    thinking.push(nonEmptyText(words.reasoning_content) ?? textOf(words.reasoning))
  }
  return createReplyReader(contentType, {
    readEvent: ({ data }: SseEvent) => {
      if (data.trim() === '[DONE]') {
        ended = true
        return
      }
      const chunk = asJson(parseJson(data))
      readHead(chunk)
      const delta = asJson(asJson(firstChoice(chunk)).delta)
      readWords(delta)
      addCalls(calls, delta)
    },
    readDocument: (document) => {
      const body = asJson(document)
      readHead(body)
      const choice = firstChoice(body)
      const message = asJson(asJson(choice).message)
      readWords(message)
      whole = readToolCalls(message)
      ended ||= choice !== undefined
    },
    finish: () => ({
      model,
      tokens,
      text: text.join(''),
      thinking: thinking.join(''),
      toolCalls: [...whole, ...[...calls.values()].map(finishCall)],
      complete: ended,
      error,
    }),
  })
}

/** Only the first choice is read. */
function firstChoice(body: JsonObject): unknown {
  const choices = asArray(body.choices)
  return choices.find((choice) => (asJson(choice).index ?? 0) === 0)
}

function addCalls(calls: Map<string, CallDraft>, delta: JsonObject): void {
  for (const item of asArray(delta.tool_calls)) {
    const call = asJson(item)
    const custom = asJson(call.custom)
    const isCustom = call.type === 'custom' || call.custom !== undefined
    const called = isCustom ? custom : asJson(call.function)
    addPiece(calls, callKey(calls, call), nonEmptyText(call.id), called, isCustom)
  }
  const old = asJson(delta.function_call)
  if (old.name !== undefined || old.arguments !== undefined)
    addPiece(calls, 'function_call', null, old, false)
}

/** Google's server sends no index: there an id starts a call, and a piece without one continues the last call. */
function callKey(calls: Map<string, CallDraft>, call: JsonObject): string {
  if (typeof call.index === 'number') return String(call.index)
  const id = nonEmptyText(call.id)
  return id === null ? ([...calls.keys()].at(-1) ?? '') : `id ${id}`
}

function addPiece(
  calls: Map<string, CallDraft>,
  key: string,
  id: string | null,
  called: JsonObject,
  custom: boolean,
): void {
  const known = calls.get(key) ?? { id: null, name: '', pieces: [], custom }
  known.id ??= id
  known.name ||= textOf(called.name)
  const piece = custom ? called.input : called.arguments
  known.pieces.push(typeof piece === 'string' ? piece : jsonText(piece ?? undefined))
  calls.set(key, known)
}

function finishCall({ id, name, pieces, custom }: CallDraft): ReplyReading['toolCalls'][number] {
  const written = pieces.join('')
  return { id, name, input: custom ? written : readArguments(written) }
}
