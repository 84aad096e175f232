import type { TokenUsage } from '../../../../core/trial.ts'
import type { ReplyReader, ReplyReading } from '../contract.ts'
import { asJson, asList, asText, isJson, type Json, parseJson } from '../json.ts'
import { createReplyBody } from '../reply-body.ts'
import { readUsage } from './usage.ts'

export function createReader(contentType: string): ReplyReader {
  const text: string[] = []
  const thinking: string[] = []
  const toolCalls: ReplyReading['toolCalls'][number][] = []
  let model: string | null = null
  let tokens: TokenUsage | null = null
  let error: ReplyReading['error'] = null
  let complete = false

  const readPart = (part: Json): void => {
    if (typeof part.text === 'string') (part.thought === true ? thinking : text).push(part.text)
    if (isJson(part.functionCall)) {
      const { id, name, args } = part.functionCall
      toolCalls.push({ id: asText(id) ?? null, name: asText(name) ?? '', input: args ?? {} })
    }
  }
  const readPiece = (piece: Json): void => {
    if (isJson(piece.error)) error = readError(piece.error)
    model = asText(piece.modelVersion) ?? model
    tokens = readUsage(piece.usageMetadata) ?? tokens
    const candidate = asJson(asList(piece.candidates)[0])
    for (const part of asList(asJson(candidate.content).parts)) readPart(asJson(part))
    // A prompt that was refused has no candidate, and so none that finishes.
    if (typeof candidate.finishReason === 'string' || asJson(piece.promptFeedback).blockReason !== undefined)
      complete = true
  }
  const body = createReplyBody(contentType, {
    onEvent: ({ data }) => readPiece(asJson(parseJson(data))),
    onDocument: (document) => {
      // A stream that nobody asked to be events is a list of its pieces.
      for (const piece of asList(document)) readPiece(asJson(piece))
      if (!isJson(document)) return
      readPiece(document)
      complete = true
    },
  })
  return {
    push: body.push,
    end: () => {
      body.end()
      return { model, tokens, text: text.join(''), thinking: thinking.join(''), toolCalls, complete, error }
    },
  }
}

function readError({ status, message }: Json): ReplyReading['error'] {
  return { type: asText(status) ?? null, message: asText(message) ?? '' }
}
