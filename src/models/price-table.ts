import { z } from 'zod'
import type { TokenUsage } from '../core/trial.ts'

/** USD per million tokens, by kind of token. */
export interface PriceTier {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** For the thinking part of the output. Default: as output. */
  readonly thinking?: number
}

export interface TokenPrice extends PriceTier {
  /** The price of the whole call when its input, cached or not, is longer than this. */
  readonly long?: PriceTier & { readonly aboveInputTokens: number }
}

/** By `provider:model`, or by the model alone for all providers. */
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
    thinking_usd_per_mtok: usd
      .optional()
      .describe('USD per million thinking tokens. Default: the output price.'),
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
      ...(row.thinking_usd_per_mtok !== undefined && { thinking: row.thinking_usd_per_mtok }),
    }
  })

export const pricesSchema = z.record(z.string().min(1), priceSchema)

export const freePrice: TokenPrice = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/**
 * The cost of the tokens of many calls in USD, assuming that none had a long prompt. null when the price is unknown, which is not zero.
 */
export function price(model: string, tokens: TokenUsage, table: PriceTable): number | null {
  const found = priceOf(model, table)
  return found === null ? null : tierCost(tokens, found)
}

/** Looks up `provider:model`, then the model alone, then either without a trailing date. */
export function priceOf(model: string, table: PriceTable): TokenPrice | null {
  const alone = model.slice(model.indexOf(':') + 1)
  const key = [model, alone, undated(model), undated(alone)].find((name) => Object.hasOwn(table, name))
  return key === undefined ? null : (table[key] ?? null)
}

export function costOf(tokens: TokenUsage, found: TokenPrice): number {
  const inputTokens = tokens.input + tokens.cacheRead + tokens.cacheWrite
  const isLong = found.long !== undefined && inputTokens > found.long.aboveInputTokens
  return tierCost(tokens, isLong ? found.long : found)
}

function tierCost(tokens: TokenUsage, tier: PriceTier): number {
  // A provider that counts wrongly may report more thinking than output; then all output is thinking.
  const thought = Math.min(tokens.thinking ?? 0, tokens.output)
  const micro =
    tokens.input * tier.input +
    (tokens.output - thought) * tier.output +
    thought * (tier.thinking ?? tier.output) +
    tokens.cacheRead * tier.cacheRead +
    tokens.cacheWrite * tier.cacheWrite
  return micro / 1_000_000
}

/** `claude-sonnet-4-5-20250929` and `gpt-5-2025-08-07` are dated names; `[1m]` and `-latest` do not affect the price. */
function undated(model: string): string {
  return model
    .replace(/^models\//, '')
    .replace(/\[[^\]]*\]$/, '')
    .replace(/(?:-latest|[-@]20\d{6}|-20\d{2}-\d{2}-\d{2})$/, '')
}

/** Neither spelling, or both, is not a price. */
function onePrice(perMillion: number | undefined, perThousand: number | undefined): number | null {
  if (perMillion !== undefined) return perThousand === undefined ? perMillion : null
  return perThousand === undefined ? null : perThousand * 1_000
}
