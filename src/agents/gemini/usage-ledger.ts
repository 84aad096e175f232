import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, type JsonObject } from '../../core/json-fields.ts'
import type { UsageTotal } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'

export interface UsageLedger {
  /** `stats` of a `result` line: the totals of the session so far, per model. */
  result(stats: JsonObject | null): readonly Untimed<UsageEvent>[]
  total(): UsageTotal
}

interface Counts {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly thinking: number
}

const nothing: Counts = { input: 0, output: 0, cached: 0, thinking: 0 }

/** Emitted are differences to what was emitted before. */
export function createUsageLedger(): UsageLedger {
  const meter = createUsageMeter()
  const told = new Map<string, Counts>()
  return {
    result(stats) {
      return Object.entries(asObject(stats?.models) ?? {}).flatMap(([model, value]) => {
        const before = told.get(model) ?? nothing
        const now = countsOf(asObject(value) ?? {})
        const more = (key: keyof Counts): number => Math.max(0, now[key] - before[key])
        told.set(model, now)
        const usage: Untimed<UsageEvent> = {
          event: 'usage',
          model,
          input_tokens: more('input'),
          output_tokens: more('output'),
          cache_read_tokens: more('cached'),
          thinking_tokens: more('thinking'),
        }
        const counts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens ?? 0]
        if (counts.every((count) => count === 0)) return []
        meter.add(usage)
        return [usage]
      })
    },
    total: meter.total,
  }
}

/** What was thought is in no count but the total; it is paid for as output. */
function countsOf(stats: JsonObject): Counts {
  const prompt = asAmount(stats.input_tokens) ?? 0
  const said = asAmount(stats.output_tokens) ?? 0
  const cached = Math.min(prompt, asAmount(stats.cached) ?? 0)
  const thinking = Math.max(0, (asAmount(stats.total_tokens) ?? 0) - prompt - said)
  return { input: prompt - cached, output: said + thinking, cached, thinking }
}
