import { expect, test } from 'vitest'
import { priceOf } from './price-table.ts'
import { builtInPrices, pricesAsOf, pricesOn } from './prices.ts'
import { defaultModels } from './select-model.ts'

test('every row is complete, output costs more than input, and the cache is not more expensive than input', () => {
  const rows = Object.entries(pricesOn('2027-06-01')).flatMap(([name, row]) => [
    { name, ...row },
    ...(row.long === undefined ? [] : [{ name, ...row.long }]),
  ])
  expect(rows.length).toBeGreaterThan(50)
  for (const { name, input, output, cacheRead, cacheWrite } of rows) {
    expect(input, name).toBeGreaterThan(0)
    expect(output, name).toBeGreaterThan(input)
    expect(cacheRead, name).toBeGreaterThan(0)
    expect(cacheRead, name).toBeLessThanOrEqual(input)
    expect(cacheWrite, name).toBeGreaterThanOrEqual(input)
  }
})

test('a long prompt is more expensive', () => {
  for (const [name, { input, output, long }] of Object.entries(builtInPrices))
    if (long !== undefined) expect(long.input > input && long.output > output, name).toBe(true)
})

test('announced prices apply from their date on', () => {
  expect(priceOf('google:gemini-4-argon', pricesOn('2026-11-30'))).toMatchObject({ input: 2, output: 10 })
  expect(priceOf('google:gemini-4-argon', pricesOn('2026-12-01'))).toMatchObject({ input: 4, output: 20 })
})

test('the table is dated, contains the default models, and has no price for an unknown one', () => {
  expect(new Date(pricesAsOf).toISOString().slice(0, 10)).toBe(pricesAsOf)
  for (const model of Object.values(defaultModels))
    expect(priceOf(model, builtInPrices), model).not.toBeNull()
  expect(priceOf('anthropic:claude-of-tomorrow', builtInPrices)).toBeNull()
})
