import { asArray, asString, isObject, type JsonObject, parseJson } from '../../../core/json-fields.ts'
import { percentDecoded } from '../../../core/percent-decoded.ts'
import type { TokenUsage } from '../../../core/trial.ts'
import type { Block, ModelCall, StopReason, Turn } from '../contract.ts'
import type { EncodedReply, ReplyFacts, ReplyReader, SseEvent, WireFormat, WireRoute } from './contract.ts'
import { readCall } from './gemini/read-call.ts'
import { joinDeltas } from './join-deltas.ts'
import { asCount, asJson, cutText, jsonReply, layOver, toolInput } from './json.ts'
import { createReplyReader } from './reply-reader.ts'
import { encodeSse, streamReply } from './sse.ts'

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}

/** Google's generateContent, as used by Gemini CLI. Streams are always server-sent events. */
export const gemini: WireFormat = {
  api: 'gemini',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount: (tokens) => jsonReply({ totalTokens: tokens }, jsonHeaders),
  encodeModels: (models) =>
    jsonReply(
      {
        models: models.map((id) => ({
          name: `models/${id}`,
          displayName: id,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        })),
      },
      jsonHeaders,
    ),
  encodeFailure(failure) {
    const { status: code, message, type, retryAfterSecs } = failure
    const status = type ?? words[code] ?? (code < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL')
    // Google sends the time to wait in the body, and Gemini CLI reads it there.
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSecs}s` },
    ]
    const error = { code, message, status, ...(retryAfterSecs !== undefined && { details }) }
    return jsonReply({ error }, jsonHeaders, failure)
  },
  createReader,
  mergeDeltas,
}

/** Model and method are in the path, after an optional version. */
function route(method: string, path: string): WireRoute | null {
  if (method === 'GET') return /(?:^|\/)models\/?$/.test(path) ? { kind: 'list_models' } : null
  const found = /(?:^|\/)models\/([^/:]+):([A-Za-z]+)$/.exec(path)
  if (method !== 'POST' || found === null) return null
  const model = percentDecoded(found[1] ?? '')
  switch (found[2]) {
    case 'generateContent':
      return { kind: 'generate', model, stream: false }
    case 'streamGenerateContent':
      return { kind: 'generate', model, stream: true }
    case 'countTokens':
      return { kind: 'count_tokens', model }
    default:
      return null
  }
}

/** Every piece of a stream is a complete answer; pieces with only text of one kind are joined. */
function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const candidate = onlyCandidate(body)
      const parts = partsOf(candidate)
      const [first] = parts
      if (candidate === null || first === undefined || !isWhole(body)) return null
      const thought = first.thought === true
      const texts = parts.flatMap((part) => textOf(part, thought) ?? [])
      if (texts.length < parts.length) return null
      return {
        run: thought ? 'thought' : 'text',
        text: texts.join(''),
        ends: typeof candidate.finishReason === 'string',
      }
    },
    write: (bodies, text) => {
      const candidates = bodies.map((body) => onlyCandidate(body) ?? {})
      const parts = candidates.flatMap(partsOf)
      const content = {
        ...layOver(candidates.map((one) => asJson(one.content))),
        parts: [{ ...layOver(parts), text }],
      }
      return { ...layOver(bodies), candidates: [{ ...layOver(candidates), content }] }
    },
  })
}

/** Values of the wrong type would hide those of an earlier piece. */
function isWhole({ modelVersion, usageMetadata }: JsonObject): boolean {
  return (
    ['string', 'undefined'].includes(typeof modelVersion) &&
    (usageMetadata === undefined || isObject(usageMetadata))
  )
}

function onlyCandidate(body: JsonObject): JsonObject | null {
  const [candidate, ...others] = asArray(body.candidates)
  return isObject(candidate) && others.length === 0 && body.error === undefined ? candidate : null
}

function partsOf(candidate: JsonObject | null): readonly JsonObject[] {
  return asArray(asJson(candidate?.content).parts).map(asJson)
}

/** Undefined for a part that contains more than text, or text of the other kind. */
function textOf(
  { text, thought, thoughtSignature: _, ...others }: JsonObject,
  wanted: boolean,
): string | undefined {
  const plain = typeof text === 'string' && (thought === true) === wanted && Object.keys(others).length === 0
  return plain ? text : undefined
}

/** Google has no separate finish reason for a turn that ends with calls. */
const finishReasons: Record<StopReason, string> = {
  end: 'STOP',
  tools: 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
}

function encodeTurn(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
  const answer = (parts: readonly JsonObject[], usage: JsonObject, ending: JsonObject): JsonObject => ({
    candidates: [{ content: { parts, role: 'model' }, ...ending, index: 0 }],
    usageMetadata: usage,
    modelVersion: turn.model ?? call.model,
    responseId: facts.id,
  })
  const usage = writeUsage(turn.usage)
  const ending = { finishReason: finishReasons[turn.stop] }
  if (!call.stream) {
    const parts = turn.blocks.flatMap((block) => writeParts(block, (text) => [text]))
    return jsonReply(answer(parts, usage, ending), jsonHeaders)
  }
  const parts = turn.blocks.flatMap((block) => writeParts(block, cutText))
  // Until the last piece only the prompt is counted.
  const { thinking: _, ...begun } = { ...turn.usage, output: 0 }
  const pieces = [
    ...parts.slice(0, -1).map((part) => answer([part], writeUsage(begun), {})),
    answer(parts.slice(-1), usage, ending),
  ]
  const chunks = pieces.map((piece) => encodeSse({ data: JSON.stringify(piece) }))
  return streamReply(chunks, { 'content-type': 'text/event-stream' })
}

const jsonHeaders = { 'content-type': 'application/json; charset=UTF-8' }

function writeParts(block: Block, cut: (text: string) => readonly string[]): readonly JsonObject[] {
  switch (block.kind) {
    case 'text':
      return cut(block.text).map((text) => ({ text }))
    case 'thinking':
      return cut(block.text).map((text) => ({ text, thought: true }))
    case 'tool_call':
      return [{ functionCall: { id: block.id, name: block.name, args: toolInput(block.input) } }]
  }
}

function createReader(contentType: string): ReplyReader {
  return createReplyReader(contentType, (draft) => {
    const readPart = (part: JsonObject): void => {
      if (typeof part.text === 'string') (part.thought === true ? draft.thinking : draft.text).push(part.text)
      if (isObject(part.functionCall)) {
        const { id, name, args } = part.functionCall
        draft.toolCalls.push({ id: asString(id) ?? null, name: asString(name) ?? '', input: args ?? {} })
      }
    }
    const readPiece = (piece: JsonObject): void => {
      if (isObject(piece.error)) {
        const { status, message } = piece.error
        draft.error = { type: asString(status) ?? null, message: asString(message) ?? '' }
      }
      draft.model = asString(piece.modelVersion) ?? draft.model
      draft.tokens = readUsage(piece.usageMetadata) ?? draft.tokens
      const candidate = asJson(asArray(piece.candidates)[0])
      for (const part of asArray(asJson(candidate.content).parts)) readPart(asJson(part))
      // A refused prompt has no candidate, and so no finish reason.
      const isRefused = asJson(piece.promptFeedback).blockReason !== undefined
      if (typeof candidate.finishReason === 'string' || isRefused) draft.complete = true
    }
    return {
      readEvent: ({ data }) => readPiece(asJson(parseJson(data))),
      readDocument: (document) => {
        // A stream that was not requested as events is a JSON list of its pieces.
        for (const piece of asArray(document)) readPiece(asJson(piece))
        if (!isObject(document)) return
        readPiece(document)
        draft.complete = true
      },
    }
  })
}

/** Google includes cached tokens in the prompt, does not report cache writes, and counts thinking apart from the answer. */
function writeUsage({ input, output, cacheRead, cacheWrite, thinking }: TokenUsage): JsonObject {
  const prompt = input + cacheRead + cacheWrite
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, output - (thinking ?? 0)),
    ...(thinking !== undefined && { thoughtsTokenCount: thinking }),
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    totalTokenCount: prompt + output,
  }
}

/** Null when the provider did not report usage. */
function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value)) return null
  const cacheRead = asCount(value.cachedContentTokenCount) ?? 0
  const prompt = (asCount(value.promptTokenCount) ?? 0) + (asCount(value.toolUsePromptTokenCount) ?? 0)
  const thinking = asCount(value.thoughtsTokenCount)
  return {
    input: Math.max(0, prompt - cacheRead),
    output: (asCount(value.candidatesTokenCount) ?? 0) + (thinking ?? 0),
    cacheRead,
    cacheWrite: 0,
    ...(thinking !== undefined && { thinking }),
  }
}
