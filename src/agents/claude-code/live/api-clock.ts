import { asAmount, type JsonObject } from '../../../core/json-fields.ts'

/** How long Claude Code has waited for its model, all prompts together. */
export interface ApiClock {
  see(line: JsonObject): void
  totalMs(): number
}

/** A `result` tells the time since the conversation began, or since the process did: what is emitted here only ever grows. */
export function createApiClock(): ApiClock {
  let lastMs = 0
  let totalMs = 0
  return {
    see(line) {
      if (line.type === 'conversation_reset') lastMs = 0
      if (line.type !== 'result') return
      const toldMs = asAmount(line.duration_api_ms) ?? lastMs
      totalMs += toldMs >= lastMs ? toldMs - lastMs : toldMs
      lastMs = toldMs
    },
    totalMs: () => totalMs,
  }
}
