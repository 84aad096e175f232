import { z } from 'zod'
import type { TokenUsage } from '../core/trial.ts'

/** USD per million tokens, by kind of token. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** By `provider:model`, or by the model alone for every provider that has it. */
export type PriceTable = Readonly<Record<string, TokenPrice>>

const usd = z.number().min(0)

/** `models:` in gantry.yaml. */
const priceSchema = z
  .strictObject({
    input_usd_per_mtok: usd.optional().describe('USD per million input tokens.'),
    output_usd_per_mtok: usd.optional().describe('USD per million output tokens.'),
    cache_read_usd_per_mtok: usd
      .optional()
      .describe('USD per million tokens read from the cache. Default: the input price.'),
    cache_write_usd_per_mtok: usd
      .optional()
      .describe('USD per million tokens written to the cache. Default: the input price.'),
    input_cost_per_1k_tokens: usd.optional().describe('Older spelling: USD per thousand input tokens.'),
    output_cost_per_1k_tokens: usd.optional().describe('Older spelling: USD per thousand output tokens.'),
  })
  .transform((row, context): TokenPrice => {
    const input = onePrice(row.input_usd_per_mtok, row.input_cost_per_1k_tokens)
    const output = onePrice(row.output_usd_per_mtok, row.output_cost_per_1k_tokens)
    if (input === null || output === null) {
      context.addIssue({
        code: 'custom',
        message: 'give input_usd_per_mtok and output_usd_per_mtok, each once',
        input: row,
      })
      return z.NEVER
    }
    return {
      input,
      output,
      cacheRead: row.cache_read_usd_per_mtok ?? input,
      cacheWrite: row.cache_write_usd_per_mtok ?? input,
    }
  })

export const pricesSchema = z.record(z.string().min(1), priceSchema)

export const freePrice: TokenPrice = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** What the tokens cost in USD. null when the price is unknown, which is not zero. */
export function price(model: string, tokens: TokenUsage, table: PriceTable): number | null {
  const found = priceOf(model, table)
  return found === null ? null : costOf(tokens, found)
}

export function priceOf(model: string, table: PriceTable): TokenPrice | null {
  const withoutProvider = model.slice(model.indexOf(':') + 1)
  const key = [model, withoutProvider].find((name) => Object.hasOwn(table, name))
  return key === undefined ? null : (table[key] ?? null)
}

export function costOf(tokens: TokenUsage, found: TokenPrice): number {
  const micro =
    tokens.input * found.input +
    tokens.output * found.output +
    tokens.cacheRead * found.cacheRead +
    tokens.cacheWrite * found.cacheWrite
  return micro / 1_000_000
}

/** Neither spelling, or both, is no price. */
function onePrice(perMillion: number | undefined, perThousand: number | undefined): number | null {
  if (perMillion !== undefined) return perThousand === undefined ? perMillion : null
  return perThousand === undefined ? null : perThousand * 1_000
}
