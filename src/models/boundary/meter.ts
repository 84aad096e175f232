import { noTokens, type TokenUsage } from '../../core/trial.ts'
import type { Budget } from '../budget.ts'
import { costOf, type PriceTable, priceOf, type TokenPrice } from '../pricing.ts'
import { createUsageRows, type LedgerRow } from '../usage-rows.ts'
import type { Api, ModelCall } from './contract.ts'
import type { ReplyReading } from './wire/contract.ts'

/** Counts what the calls of one session cost, and lets none begin that the budget does not allow. */
export interface Meter {
  begin(call: ModelCall, promptBytes: number): Metered
  rows(): readonly LedgerRow[]
  /** What is known; null when there is nothing but calls without a known price. */
  costUsd(): number | null
}

export type Metered =
  | { readonly kind: 'granted'; readonly settle: (end: CallEnd) => Cost }
  | { readonly kind: 'refused'; readonly message: string }

export interface CallEnd {
  /** Of what was sent to the agent; null = there was no answer at all. */
  readonly reading: ReplyReading | null
  /** Did a model work? An error costs nothing; an agent that went away before its answer may well be billed. */
  readonly answered: boolean
}

export interface Cost {
  /** null = the answer did not tell. */
  readonly tokens: TokenUsage | null
  readonly costUsd: number | null
}

const providerOf: Readonly<Record<Api, string>> = {
  anthropic: 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  gemini: 'google',
}

/** A price is taken from the first table that has one. */
export function createMeter(tables: readonly PriceTable[], budget: Budget | undefined): Meter {
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
      // A whole answer that does not tell its usage is unmetered; one that was cut before it could is left out.
      if (complete) ledger.add({ model: model ?? call.model, tokens: noTokens, costUsd: null })
      return { tokens: null, costUsd: null }
    }
    // Providers answer with the dated name of what was asked for by its short one.
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
    begin(call, promptBytes) {
      const price = priced(call.api, call.model)
      const reservedUsd = price === null ? null : reservation(call, promptBytes, price, averageUsd())
      const grant = budget?.reserve(reservedUsd)
      if (grant?.kind === 'refused') return grant
      return {
        kind: 'granted',
        settle: (end) => {
          const cost = book(call, end)
          // An answer that broke off before it told its usage may well be billed: the reservation is charged.
          grant?.settle(cost.costUsd ?? (end.answered ? reservedUsd : 0))
          return cost
        },
      }
    },
    rows: ledger.rows,
    costUsd() {
      const rows = ledger.rows()
      return rows.length > 0 && knownCalls === 0 ? null : knownUsd
    },
  }
}

/** What a provider reports is foreign: no sum is made with what is no amount. */
function plausible(usd: number): number | null {
  return usd >= 0 && usd < Infinity ? usd : null
}

/** More than tokenizers make of prose and code. */
const bytesPerToken = 3
/** Agents ask for a maximum they never use; what is larger than this says nothing about the call. */
const saneOutputTokens = 8_192
const firstOutputTokens = 1_024

/**
 * What is set aside before a call. Agents ask for 32,000 tokens of output and write 300: setting aside what they ask for would
 * refuse every small budget at once. So it is what the call may cost at most, but no more than its prompt and 1,024 tokens
 * for the first call, and no more than twice the average of the session for the later ones. A call may cost more than that;
 * the cap can be passed by the excess of the calls under way, and none begins after it.
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
