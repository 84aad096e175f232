import type { WireFormat } from './contract.ts'
import { encodeCount, encodeModels } from './gemini/encode-facts.ts'
import { encodeFailure } from './gemini/encode-failure.ts'
import { encodeTurn } from './gemini/encode-turn.ts'
import { mergeDeltas } from './gemini/merge-deltas.ts'
import { readCall } from './gemini/read-call.ts'
import { createReader } from './gemini/reader.ts'
import { route } from './gemini/route.ts'

/** Google's generateContent, as Gemini CLI speaks it. Streams are always server-sent events. */
export const gemini: WireFormat = {
  api: 'gemini',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount,
  encodeModels,
  encodeFailure,
  createReader,
  mergeDeltas,
}
