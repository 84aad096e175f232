import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, defined, type Json } from '../json-fields.ts'
import type { UsageTotal } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'

type Usages = readonly Untimed<UsageEvent>[]

export interface UsageLedger {
  /** The usage of one assistant message; its id is repeated once per content block. */
  message(id: string | undefined, model: string | undefined, usage: Json | null): Usages
  /** The end of a turn: what it tells is exact and corrects what the messages told. */
  result(line: Json): Usages
  total(): UsageTotal
}

interface Counts {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

const nothing: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/**
 * Messages carry preliminary counts and no price; `result` carries the exact totals of the whole process so far
 * (`modelUsage` with the subagents, `total_cost_usd`). Emitted are always differences to what was emitted before.
 */
export function createUsageLedger(): UsageLedger {
  const meter = createUsageMeter()
  const seen = new Map<string, Counts>()
  /** Ends of earlier turns, for versions that tell the usage of each turn alone. */
  let closed = nothing
  const emit = (more: Counts, costUsd: number | undefined, model: string | undefined): Usages => {
    if (costUsd === undefined && Object.values(more).every((count) => count === 0)) return []
    const usage = defined({
      event: 'usage' as const,
      model,
      input_tokens: more.input,
      output_tokens: more.output,
      cache_read_tokens: more.cacheRead,
      cache_write_tokens: more.cacheWrite,
      cost_usd: costUsd,
    })
    meter.add(usage)
    return [usage]
  }
  return {
    message(id, model, usage) {
      if (usage === null) return []
      const now = messageCounts(usage)
      const more = difference(now, id === undefined ? nothing : (seen.get(id) ?? nothing))
      if (id !== undefined) seen.set(id, now)
      return emit(more, undefined, model)
    },
    result(line) {
      const before = meter.total()
      const models = Object.entries(asObject(line.modelUsage) ?? {})
      const target =
        models.length > 0 ? modelCounts(models) : sum(closed, messageCounts(asObject(line.usage) ?? {}))
      const more = difference(target, before.tokens ?? nothing)
      const costUsd = asAmount(line.total_cost_usd)
      const costMore = costUsd === undefined ? undefined : Math.max(0, costUsd - (before.costUsd ?? 0))
      const usages = emit(more, costMore, models.length === 1 ? models[0]?.[0] : undefined)
      closed = meter.total().tokens ?? nothing
      return usages
    },
    total: meter.total,
  }
}

function messageCounts(usage: Json): Counts {
  return {
    input: asAmount(usage.input_tokens) ?? 0,
    output: asAmount(usage.output_tokens) ?? 0,
    cacheRead: asAmount(usage.cache_read_input_tokens) ?? 0,
    cacheWrite: asAmount(usage.cache_creation_input_tokens) ?? 0,
  }
}

function modelCounts(models: readonly (readonly [string, unknown])[]): Counts {
  return models
    .map(([, value]) => asObject(value) ?? {})
    .map((usage) => ({
      input: asAmount(usage.inputTokens) ?? 0,
      output: asAmount(usage.outputTokens) ?? 0,
      cacheRead: asAmount(usage.cacheReadInputTokens) ?? 0,
      cacheWrite: asAmount(usage.cacheCreationInputTokens) ?? 0,
    }))
    .reduce(sum, nothing)
}

function sum(a: Counts, b: Counts): Counts {
  return combine(a, b, (x, y) => x + y)
}

/** Never negative: an increment only adds. */
function difference(now: Counts, before: Counts): Counts {
  return combine(now, before, (x, y) => Math.max(0, x - y))
}

function combine(a: Counts, b: Counts, how: (x: number, y: number) => number): Counts {
  return {
    input: how(a.input, b.input),
    output: how(a.output, b.output),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWrite: how(a.cacheWrite, b.cacheWrite),
  }
}
