import { expect, test } from 'vitest'
import { costOf, price, priceOf, pricesSchema } from './price-table.ts'

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

test('a price for the model alone applies to every provider, and one with the provider wins', () => {
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
])('%j is not a price', (row) => {
  expect(pricesSchema.safeParse({ m: row }).success).toBe(false)
})

test('thinking costs as much as other output unless a price says otherwise', () => {
  const table = pricesSchema.parse({
    plain: { input_usd_per_mtok: 0, output_usd_per_mtok: 10 },
    cheap: { input_usd_per_mtok: 0, output_usd_per_mtok: 10, thinking_usd_per_mtok: 1 },
  })
  const thoughtful = { input: 0, output: 1_000_000, cacheRead: 0, cacheWrite: 0, thinking: 400_000 }
  expect(price('plain', thoughtful, table)).toBe(10)
  expect(price('cheap', thoughtful, table)).toBeCloseTo(6.4, 12)
  expect(price('cheap', { ...thoughtful, thinking: 2_000_000 }, table)).toBe(1)
})

test.each([
  'claude-sonnet-4-5',
  'claude-sonnet-4-5-20250929',
  'anthropic:claude-sonnet-4-5-20250929',
  'claude-sonnet-4-5@20250929',
  'claude-sonnet-4-5[1m]',
  'claude-sonnet-4-5-latest',
  'claude-sonnet-4-5-2025-09-29',
])('%s is found without its date', (name) => {
  const row = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
  expect(priceOf(name, { 'claude-sonnet-4-5': row })).toBe(row)
})

test('a name with the same beginning is a different model', () => {
  const row = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
  for (const name of ['gpt-5-mini', 'gpt-55', 'gpt-5-20', 'gpt-5.1'])
    expect(priceOf(name, { 'gpt-5': row })).toBeNull()
})

test('a dated row wins over one without a date', () => {
  const row = (input: number) => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 })
  const table = { 'm-20250929': row(1), m: row(2) }
  expect(priceOf('m-20250929', table)).toBe(table['m-20250929'])
})

test('a call with a long prompt costs more as a whole, and a sum of calls is priced without long prompts', () => {
  const tier = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 1 }
  const found = {
    ...tier,
    long: { aboveInputTokens: 100, input: 2, output: 20, cacheRead: 0.2, cacheWrite: 2 },
  }
  const call = (cacheRead: number) => ({ input: 50, output: 0, cacheRead, cacheWrite: 0 })
  expect(costOf(call(50), found)).toBeCloseTo(55e-6, 12)
  expect(costOf(call(51), found)).toBeCloseTo(110.2e-6, 12)
  expect(price('m', call(51), { m: found })).toBeCloseTo(55.1e-6, 12)
})
