import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, defined, type JsonObject } from '../../core/json-fields.ts'
import { createUsageMeter } from '../stream.ts'

/** `thinking` is contained in `output`. */
const kinds = ['input', 'output', 'cacheRead', 'cacheWrite', 'thinking'] as const
type TokenKind = (typeof kinds)[number]
type TokenCounts = Readonly<Record<TokenKind, number>>

function countsBy(count: (kind: TokenKind) => number): TokenCounts {
  return Object.fromEntries(kinds.map((kind) => [kind, count(kind)])) as TokenCounts
}

const noTokens = countsBy(() => 0)

/** `usage` of a message or of a turn, as the API reports it. It does not report thinking apart. */
const messageKeys: Partial<Record<TokenKind, string>> = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
}

/** One entry of `modelUsage`. */
const modelKeys: Record<TokenKind, string> = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheReadInputTokens',
  cacheWrite: 'cacheCreationInputTokens',
  thinking: 'thinkingTokens',
}

function countsIn(usage: JsonObject, keys: Partial<Record<TokenKind, string>>): TokenCounts {
  return countsBy((kind) => asAmount(usage[keys[kind] ?? '']) ?? 0)
}

function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return countsBy((kind) => a[kind] + b[kind])
}

/** Never negative: an increment only adds. */
function countsSince(now: TokenCounts, before: TokenCounts): TokenCounts {
  return countsBy((kind) => Math.max(0, now[kind] - before[kind]))
}

function isNothing(counts: TokenCounts): boolean {
  return Object.values(counts).every((count) => count === 0)
}

type Usages = readonly Untimed<UsageEvent>[]

/** The usage emitted for one model, or for all. */
interface Account {
  readonly tokens: TokenCounts
  readonly costUsd: number
}

const empty: Account = { tokens: noTokens, costUsd: 0 }

/**
 * Messages have preliminary counts and no price; `result` has the exact totals of the process so far (`modelUsage` with the subagents,
 * `total_cost_usd`); newer versions restart them after `/clear`. The ledger always emits the difference to the usage emitted before.
 */
export function createUsageLedger() {
  const meter = createUsageMeter()
  const seen = new Map<string, TokenCounts>()
  const byModel = new Map<string, Account>()
  let all = empty
  /** The usage that the last result closed; all of it, for versions that report only the usage of each turn. */
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

  /** From here on the totals of a result start at zero again. Only usage that no result has closed yet belongs to them. */
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
    // A total cost of zero is known too: the first result always reports it.
    return parts.flatMap((part, index) =>
      emit(part.tokens, part.costUsd === 0 && index > 0 ? undefined : part.costUsd, part.model),
    )
  }

  return {
    /** The usage of one assistant message; its id is repeated once per content block. */
    message(id: string | undefined, model: string | undefined, usage: JsonObject | null): Usages {
      if (usage === null) return []
      const now = countsIn(usage, messageKeys)
      const more = countsSince(now, id === undefined ? noTokens : (seen.get(id) ?? noTokens))
      if (id !== undefined) seen.set(id, now)
      return emit(more, undefined, model)
    },
    /** The end of a turn: its figures are exact and correct those of the messages. */
    result(line: JsonObject): Usages {
      const costUsd = asAmount(line.total_cost_usd)
      // A total that shrinks is a new one: spending is never undone.
      if (costUsd !== undefined && costUsd < all.costUsd - 1e-9) restart()
      const models = modelTotals(asObject(line.modelUsage) ?? {})
      const target =
        models.length > 0
          ? models.map(({ tokens }) => tokens).reduce(addCounts, noTokens)
          : addCounts(closed, countsIn(asObject(line.usage) ?? {}, messageKeys))
      const more = countsSince(target, all.tokens)
      const costMore = costUsd === undefined ? undefined : Math.max(0, costUsd - all.costUsd)
      const exact = costMore === undefined || models.length === 0 ? null : byEachModel(models, more, costMore)
      const usages = exact ?? emit(more, costMore, models.length === 1 ? models[0]?.model : undefined)
      closed = all.tokens
      closedByModel = new Map(byModel)
      return usages
    },
    restart,
    /** Later messages are different ones, whatever their ids are. */
    forgetMessages: () => seen.clear(),
    total: meter.total,
  }
}

interface ModelTotal extends Account {
  readonly model: string
}

/** A model with a larger window is `name[1m]` here and `name` in its messages: it is one model. */
function modelTotals(usage: JsonObject): readonly ModelTotal[] {
  const totals = new Map<string, Account>()
  for (const [name, value] of Object.entries(usage)) {
    const reported = asObject(value) ?? {}
    const model = name.replace(/\[\w+\]$/, '')
    totals.set(
      model,
      added(totals.get(model) ?? empty, countsIn(reported, modelKeys), asAmount(reported.costUSD)),
    )
  }
  return [...totals].map(([model, account]) => ({ model, ...account }))
}

function added({ tokens, costUsd }: Account, more: TokenCounts, costMore = 0): Account {
  return { tokens: addCounts(tokens, more), costUsd: costUsd + costMore }
}
