import { asArray, asString, isObject, type JsonObject, parseJson } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading } from '../contract.ts'
import { asJson } from '../json.ts'
import { createReplyReader } from '../reply-reader.ts'
import { readUsage } from './usage.ts'

export function createReader(contentType: string): ReplyReader {
  const text: string[] = []
  const thinking: string[] = []
  const toolCalls: ReplyReading['toolCalls'][number][] = []
  let model: string | null = null
  let tokens: TokenUsage | null = null
  let error: ReplyReading['error'] = null
  let complete = false

  const readPart = (part: JsonObject): void => {
    if (typeof part.text === 'string') (part.thought === true ? thinking : text).push(part.text)
    if (isObject(part.functionCall)) {
      const { id, name, args } = part.functionCall
      toolCalls.push({ id: asString(id) ?? null, name: asString(name) ?? '', input: args ?? {} })
    }
  }
  const readPiece = (piece: JsonObject): void => {
    if (isObject(piece.error))
      error = { type: asString(piece.error.status) ?? null, message: asString(piece.error.message) ?? '' }
    model = asString(piece.modelVersion) ?? model
    tokens = readUsage(piece.usageMetadata) ?? tokens
    const candidate = asJson(asArray(piece.candidates)[0])
    for (const part of asArray(asJson(candidate.content).parts)) readPart(asJson(part))
    // A refused prompt has no candidate, and so no finish reason.
    if (typeof candidate.finishReason === 'string' || asJson(piece.promptFeedback).blockReason !== undefined)
      complete = true
  }
  return createReplyReader(contentType, {
    readEvent: ({ data }) => readPiece(asJson(parseJson(data))),
    readDocument: (document) => {
      // A stream that was not requested as events is a JSON list of its pieces.
      for (const piece of asArray(document)) readPiece(asJson(piece))
      if (!isObject(document)) return
      readPiece(document)
      complete = true
    },
    finish: () => ({
      model,
      tokens,
      text: text.join(''),
      thinking: thinking.join(''),
      toolCalls,
      complete,
      error,
    }),
  })
}
