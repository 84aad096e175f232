import { expect, test } from 'vitest'
import { price, pricesSchema } from './pricing.ts'

const tokens = { input: 1_000_000, output: 100_000, cacheRead: 2_000_000, cacheWrite: 10_000 }

test('every kind of token has its price', () => {
  const table = pricesSchema.parse({
    'acme:large': {
      input_usd_per_mtok: 3,
      output_usd_per_mtok: 15,
      cache_read_usd_per_mtok: 0.3,
      cache_write_usd_per_mtok: 3.75,
    },
  })
  expect(price('acme:large', tokens, table)).toBeCloseTo(3 + 1.5 + 0.6 + 0.0375, 12)
})

test('cached tokens cost as much as input unless a price says otherwise', () => {
  const table = pricesSchema.parse({ m: { input_usd_per_mtok: 1, output_usd_per_mtok: 0 } })
  expect(price('m', tokens, table)).toBeCloseTo(3.01, 12)
})

test('the older spelling per thousand tokens is understood', () => {
  const table = pricesSchema.parse({
    m: { input_cost_per_1k_tokens: 0.003, output_cost_per_1k_tokens: 0.015 },
  })
  expect(table.m).toMatchObject({ input: 3, output: 15 })
})

test('a price for the model alone holds for every provider, one with the provider wins', () => {
  const row = (usd: number) => ({ input_usd_per_mtok: usd, output_usd_per_mtok: 0 })
  const table = pricesSchema.parse({ large: row(1), 'acme:large': row(2) })
  const million = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 }
  expect(price('other:large', million, table)).toBe(1)
  expect(price('acme:large', million, table)).toBe(2)
  expect(price('large', million, table)).toBe(1)
})

test('an unknown price is null, not zero', () => {
  expect(price('acme:huge', tokens, {})).toBeNull()
  expect(price('toString', tokens, {})).toBeNull()
})

test.each([
  [{ input_usd_per_mtok: 1 }],
  [{}],
  [{ input_usd_per_mtok: 1, input_cost_per_1k_tokens: 1, output_usd_per_mtok: 1 }],
  [{ input_usd_per_mtok: -1, output_usd_per_mtok: 1 }],
  [{ input_usd_per_mtok: 1, output_usd_per_mtok: 1, inputs: 3 }],
])('%j is no price', (row) => {
  expect(pricesSchema.safeParse({ m: row }).success).toBe(false)
})
