import { encodeCount, encodeModels } from './anthropic/encode-facts.ts'
import { encodeFailure } from './anthropic/encode-failure.ts'
import { encodeTurn } from './anthropic/encode-turn.ts'
import { mergeDeltas } from './anthropic/merge-deltas.ts'
import { readCall } from './anthropic/read-call.ts'
import { createReader } from './anthropic/reader.ts'
import { route } from './anthropic/route.ts'
import type { WireFormat } from './contract.ts'

/** Anthropic's Messages API, as Claude Code and the Agent SDK speak it. */
export const anthropic: WireFormat = {
  api: 'anthropic',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount,
  encodeModels,
  encodeFailure,
  createReader,
  mergeDeltas,
}
