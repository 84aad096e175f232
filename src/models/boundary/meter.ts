import { noTokens, type TokenUsage } from '../../core/trial.ts'
import type { Budget } from '../budget.ts'
import { costOf, type PriceTable, priceOf, type TokenPrice } from '../price-table.ts'
import { createUsageRows } from '../usage-rows.ts'
import { type Api, type ModelCall, providerOf } from './model-call.ts'
import type { ReplyReading } from './wire/contract.ts'

/** Counts the cost of the calls of one session, and refuses calls that the budget does not allow. */
export type Meter = ReturnType<typeof createMeter>

export type Metered =
  | { readonly kind: 'granted'; readonly settle: (end: CallEnd) => Cost }
  | { readonly kind: 'refused'; readonly message: string }

export interface CallEnd {
  /** Usage of what was sent to the agent; null when there was no answer. */
  readonly reading: ReplyReading | null
  /** Whether a model worked. An error costs nothing; an answer to a disconnected agent may still be billed. */
  readonly answered: boolean
}

export interface Cost {
  /** null when the answer did not report it. */
  readonly tokens: TokenUsage | null
  readonly costUsd: number | null
}

/** The first table that has a price wins. */
export function createMeter(tables: readonly PriceTable[], budget: Budget | undefined) {
  const ledger = createUsageRows()
  let knownCalls = 0
  let knownUsd = 0
  const priced = (api: Api, model: string): TokenPrice | null => {
    const name = `${providerOf[api]}:${model}`
    return tables.map((table) => priceOf(name, table)).find((price) => price !== null) ?? null
  }
  const averageUsd = (): number | null => (knownCalls === 0 ? null : knownUsd / knownCalls)

  const book = (call: ModelCall, { reading, answered }: CallEnd): Cost => {
    if (reading === null || !answered) return { tokens: null, costUsd: null }
    const { model, tokens, complete } = reading
    if (tokens === null) {
      // A complete answer without usage is unmetered; one that was cut before it could report usage is left out.
      if (complete) ledger.add({ model: model ?? call.model, tokens: noTokens, costUsd: null })
      return { tokens: null, costUsd: null }
    }
    // Providers answer with the dated name of the requested model.
    const price = (model === null ? null : priced(call.api, model)) ?? priced(call.api, call.model)
    const costUsd = price === null ? null : plausible(costOf(tokens, price))
    ledger.add({ model: model ?? call.model, tokens, costUsd })
    if (costUsd !== null) {
      knownCalls += 1
      knownUsd += costUsd
    }
    return { tokens, costUsd }
  }

  return {
    begin(call: ModelCall, promptBytes: number): Metered {
      const price = priced(call.api, call.model)
      const reservedUsd = price === null ? null : reservation(call, promptBytes, price, averageUsd())
      const grant = budget?.reserve(reservedUsd)
      if (grant?.kind === 'refused') return grant
      return {
        kind: 'granted',
        settle: (end) => {
          const cost = book(call, end)
          // An answer that broke off before it reported its usage may be billed: the reservation is charged.
          grant?.settle(cost.costUsd ?? (end.answered ? reservedUsd : 0))
          return cost
        },
      }
    },
    rows: ledger.rows,
    /** The known cost; null when all calls have an unknown price. */
    costUsd(): number | null {
      const rows = ledger.rows()
      return rows.length > 0 && knownCalls === 0 ? null : knownUsd
    },
  }
}

/** Usage reports are untrusted: only valid amounts are added. */
function plausible(usd: number): number | null {
  return usd >= 0 && usd < Infinity ? usd : null
}

/** Above what tokenizers produce for prose and code. */
const bytesPerToken = 3
/** Agents request a maximum that they never use; a larger value does not predict the cost. */
const saneOutputTokens = 8_192
const firstOutputTokens = 1_024

/**
 * The amount to reserve before a call. Agents request 32,000 tokens of output and write 300: reserving all of it would
 * exceed every small budget at once. So the reservation is the maximum cost of the call, limited to its prompt and
 * 1,024 tokens for the first call, and to twice the average of the session for later ones. A call may cost more than
 * that, so running calls can exceed the cap; no call starts after it.
 */
function reservation(
  call: ModelCall,
  promptBytes: number,
  price: TokenPrice,
  averageUsd: number | null,
): number {
  const output = Math.min(call.maxOutputTokens ?? saneOutputTokens, saneOutputTokens)
  const inputUsd = (Math.ceil(promptBytes / bytesPerToken) * Math.max(price.input, price.cacheWrite)) / 1e6
  const atMost = inputUsd + (output * price.output) / 1e6
  const likely = averageUsd === null ? inputUsd + (firstOutputTokens * price.output) / 1e6 : 2 * averageUsd
  return Math.min(atMost, likely)
}
