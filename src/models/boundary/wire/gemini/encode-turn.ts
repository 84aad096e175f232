import type { JsonObject } from '../../../../core/json-fields.ts'
import type { Block, ModelCall, StopReason, Turn } from '../../contract.ts'
import type { EncodedReply, ReplyFacts } from '../contract.ts'
import { cutText, jsonReply, toolInput } from '../json.ts'
import { encodeSse, streamReply } from '../sse.ts'
import { writeUsage } from './usage.ts'

/** Google has no separate finish reason for a turn that ends with calls. */
const finishReasons: Record<StopReason, string> = {
  end: 'STOP',
  tools: 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
}

export function encodeTurn(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply {
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

export const jsonHeaders = { 'content-type': 'application/json; charset=UTF-8' }

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
