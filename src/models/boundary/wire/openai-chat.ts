import type { WireFormat } from './contract.ts'
import { encodeCount, encodeFailure, encodeModels } from './openai/failure.ts'
import { encode } from './openai-chat/encode.ts'
import { mergeDeltas } from './openai-chat/merge-deltas.ts'
import { readCall } from './openai-chat/read-call.ts'
import { createReader } from './openai-chat/reader.ts'

/** OpenAI Chat Completions, as OpenAI and the many servers that copy it speak it. It has no way to count tokens. */
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
