import type { WireFormat } from './contract.ts'
import { encodeFailure } from './openai/failure.ts'
import { encodeCount, encodeModels } from './openai/reply.ts'
import { encode } from './openai-responses/encode.ts'
import { mergeDeltas } from './openai-responses/merge-deltas.ts'
import { readCall } from './openai-responses/read-call.ts'
import { createReader } from './openai-responses/reader.ts'

/** OpenAI Responses, as Codex and OpenAI's own libraries speak it. */
export const openaiResponses: WireFormat = {
  api: 'openai-responses',
  route: (method, path) => {
    if (method === 'POST' && /\/responses\/?$/.test(path)) return { kind: 'generate' }
    if (method === 'POST' && /\/responses\/input_tokens\/?$/.test(path)) return { kind: 'count_tokens' }
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
