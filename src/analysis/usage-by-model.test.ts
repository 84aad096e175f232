import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GantryEvent, UsageEvent } from '../core/event.ts'
import type { ModelUsage } from '../core/trial.ts'
import { foldUsageByModel } from './usage-by-model.ts'

test('adds up every kind of token and the price, per model', () => {
  expect(
    fold([
      usage({ model: 'a', input_tokens: 10, output_tokens: 1, cache_read_tokens: 5, cost_usd: 0.25 }),
      usage({ model: 'b', input_tokens: 1, thinking_tokens: 1 }),
      usage({ model: 'a', input_tokens: 1, output_tokens: 2, cache_write_tokens: 7, cost_usd: 0.5 }),
      { event: 'message', ts: 0, role: 'assistant', text: 'hi' },
    ]),
  ).toEqual([
    { model: 'a', tokens: { input: 11, output: 3, cacheRead: 5, cacheWrite: 7 }, costUsd: 0.75 },
    { model: 'b', tokens: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 1 }, costUsd: null },
  ])
})

test('without usage there is nothing, not zero; a price of zero is a price', () => {
  expect(fold([])).toEqual([])
  expect(fold([usage({ input_tokens: 1, cost_usd: 0 })])[0]?.costUsd).toBe(0)
})

test('invalid amounts are not added', () => {
  const rows = fold([
    usage({ input_tokens: -5, output_tokens: Number.NaN, cost_usd: 1 }),
    usage({ input_tokens: 3, cost_usd: Number.POSITIVE_INFINITY }),
    usage({ input_tokens: 3, cost_usd: -1 }),
  ])
  expect(rows).toEqual([
    { model: 'unknown', tokens: { input: 6, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 1 },
  ])
})

test('the total does not depend on how the increments are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), (amounts) => {
      const [row] = fold(amounts.map((tokens) => usage({ input_tokens: tokens, cost_usd: tokens })))
      const total = amounts.reduce((sum, tokens) => sum + tokens, 0)
      expect(row?.tokens.input ?? 0).toBe(total)
      expect(row?.costUsd ?? 0).toBe(total)
    }),
  )
})

function fold(events: readonly GantryEvent[]): readonly ModelUsage[] {
  const folding = foldUsageByModel()
  for (const event of events) folding.add(event)
  return folding.finish()
}

function usage(fields: Partial<UsageEvent>): GantryEvent {
  return { event: 'usage', ts: 0, input_tokens: 0, output_tokens: 0, ...fields }
}
