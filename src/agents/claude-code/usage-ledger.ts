import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, defined, type JsonObject } from '../../core/json-fields.ts'
import type { UsageTotal } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'

interface TokenCounts {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Contained in `output`. */
  readonly thinking: number
}

const noTokens: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 }

/** `usage` of a message or of a turn, as the API reports it. */
function messageCounts(usage: JsonObject): TokenCounts {
  return {
    input: asAmount(usage.input_tokens) ?? 0,
    output: asAmount(usage.output_tokens) ?? 0,
    cacheRead: asAmount(usage.cache_read_input_tokens) ?? 0,
    cacheWrite: asAmount(usage.cache_creation_input_tokens) ?? 0,
    thinking: 0,
  }
}

/** One entry of `modelUsage`. */
function modelCounts(usage: JsonObject): TokenCounts {
  return {
    input: asAmount(usage.inputTokens) ?? 0,
    output: asAmount(usage.outputTokens) ?? 0,
    cacheRead: asAmount(usage.cacheReadInputTokens) ?? 0,
    cacheWrite: asAmount(usage.cacheCreationInputTokens) ?? 0,
    thinking: asAmount(usage.thinkingTokens) ?? 0,
  }
}

function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return combine(a, b, (x, y) => x + y)
}

/** Never negative: an increment only adds. */
function countsSince(now: TokenCounts, before: TokenCounts): TokenCounts {
  return combine(now, before, (x, y) => Math.max(0, x - y))
}

function isNothing(counts: TokenCounts): boolean {
  return Object.values(counts).every((count) => count === 0)
}

function combine(a: TokenCounts, b: TokenCounts, how: (x: number, y: number) => number): TokenCounts {
  return {
    input: how(a.input, b.input),
    output: how(a.output, b.output),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWrite: how(a.cacheWrite, b.cacheWrite),
    thinking: how(a.thinking, b.thinking),
  }
}

type Usages = readonly Untimed<UsageEvent>[]

export interface UsageLedger {
  /** The usage of one assistant message; its id is repeated once per content block. */
  message(id: string | undefined, model: string | undefined, usage: JsonObject | null): Usages
  /** The end of a turn: its figures are exact and correct those of the messages. */
  result(line: JsonObject): Usages
  /** From here on the totals of a result count from zero again. */
  restart(): void
  /** What follows belongs to other messages, whatever their ids are. */
  forgetMessages(): void
  total(): UsageTotal
}

/** What was emitted for one model, or for all. */
interface Account {
  readonly tokens: TokenCounts
  readonly costUsd: number
}

const empty: Account = { tokens: noTokens, costUsd: 0 }

/**
 * Messages carry preliminary counts and no price; `result` carries the exact totals of the whole process so far
 * (`modelUsage` with the subagents, `total_cost_usd`); newer versions begin anew after `/clear`. Emitted are always
 * differences to what was emitted before.
 */
export function createUsageLedger(): UsageLedger {
  const meter = createUsageMeter()
  const seen = new Map<string, TokenCounts>()
  const byModel = new Map<string, Account>()
  let all = empty
  /** What the last result closed; all of it, for versions that report the usage of each turn only. */
  let closed = noTokens
  let closedByModel: ReadonlyMap<string, Account> = new Map()

  const emit = (more: TokenCounts, costUsd: number | undefined, model: string | undefined): Usages => {
    if (costUsd === undefined && isNothing(more)) return []
    const usage = defined({
      event: 'usage' as const,
      model,
      input_tokens: more.input,
      output_tokens: more.output,
      cache_read_tokens: more.cacheRead,
      cache_write_tokens: more.cacheWrite,
      thinking_tokens: more.thinking === 0 ? undefined : more.thinking,
      cost_usd: costUsd,
    })
    meter.add(usage)
    all = added(all, more, costUsd)
    if (model !== undefined) byModel.set(model, added(byModel.get(model) ?? empty, more, costUsd))
    return [usage]
  }

  /** Only what no result has closed yet belongs to totals that begin anew. */
  const restart = (): void => {
    all = { tokens: countsSince(all.tokens, closed), costUsd: 0 }
    for (const [model, { tokens }] of byModel) {
      const before = closedByModel.get(model) ?? empty
      byModel.set(model, { tokens: countsSince(tokens, before.tokens), costUsd: 0 })
    }
    closed = noTokens
    closedByModel = new Map()
  }

  const byEachModel = (models: readonly ModelTotal[], more: TokenCounts, costMore: number): Usages | null => {
    const parts = models.map(({ model, tokens, costUsd }) => {
      const before = byModel.get(model) ?? empty
      return {
        model,
        tokens: countsSince(tokens, before.tokens),
        costUsd: Math.max(0, costUsd - before.costUsd),
      }
    })
    const tokens = parts.map((part) => part.tokens).reduce(addCounts, noTokens)
    const costUsd = parts.reduce((sum, part) => sum + part.costUsd, 0)
    const isExact = isNothing(countsSince(tokens, more)) && isNothing(countsSince(more, tokens))
    if (!isExact || Math.abs(costUsd - costMore) > 1e-9) return null
    // That the whole cost nothing is known too: the first one always reports it.
    return parts.flatMap((part, index) =>
      emit(part.tokens, part.costUsd === 0 && index > 0 ? undefined : part.costUsd, part.model),
    )
  }

  return {
    message(id, model, usage) {
      if (usage === null) return []
      const now = messageCounts(usage)
      const more = countsSince(now, id === undefined ? noTokens : (seen.get(id) ?? noTokens))
      if (id !== undefined) seen.set(id, now)
      return emit(more, undefined, model)
    },
    result(line) {
      const costUsd = asAmount(line.total_cost_usd)
      // A total that shrinks is a new one: nothing that was spent comes back.
      if (costUsd !== undefined && costUsd < all.costUsd - 1e-9) restart()
      const models = modelTotals(asObject(line.modelUsage) ?? {})
      const target =
        models.length > 0
          ? models.map(({ tokens }) => tokens).reduce(addCounts, noTokens)
          : addCounts(closed, messageCounts(asObject(line.usage) ?? {}))
      const more = countsSince(target, all.tokens)
      const costMore = costUsd === undefined ? undefined : Math.max(0, costUsd - all.costUsd)
      const exact = costMore === undefined || models.length === 0 ? null : byEachModel(models, more, costMore)
      const usages = exact ?? emit(more, costMore, models.length === 1 ? models[0]?.model : undefined)
      closed = all.tokens
      closedByModel = new Map(byModel)
      return usages
    },
    restart,
    forgetMessages: () => seen.clear(),
    total: meter.total,
  }
}

interface ModelTotal extends Account {
  readonly model: string
}

/** A model with a larger window is called `name[1m]` here and as `name` in its messages: it is one model. */
function modelTotals(usage: JsonObject): readonly ModelTotal[] {
  const totals = new Map<string, Account>()
  for (const [name, value] of Object.entries(usage)) {
    const told = asObject(value) ?? {}
    const model = name.replace(/\[\w+\]$/, '')
    totals.set(model, added(totals.get(model) ?? empty, modelCounts(told), asAmount(told.costUSD)))
  }
  return [...totals].map(([model, account]) => ({ model, ...account }))
}

function added({ tokens, costUsd }: Account, more: TokenCounts, costMore = 0): Account {
  return { tokens: addCounts(tokens, more), costUsd: costUsd + costMore }
}
