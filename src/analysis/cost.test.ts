import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GantryEvent, UsageEvent } from '../core/event.ts'
import { type Cost, foldCost } from './cost.ts'

test('adds up every kind of token and the price', () => {
  expect(
    fold([
      usage({ input_tokens: 10, output_tokens: 1, cache_read_tokens: 5, cost_usd: 0.25 }),
      usage({ input_tokens: 1, output_tokens: 2, cache_write_tokens: 7, cost_usd: 0.5 }),
      { event: 'message', ts: 0, role: 'assistant', text: 'hi' },
    ]),
  ).toEqual({
    tokens: { input: 11, output: 3, cacheRead: 5, cacheWrite: 7 },
    costUsd: 0.75,
    metered: 'all',
  })
})

test('without usage there are no tokens and no cost, not zero', () => {
  expect(fold([])).toEqual({ tokens: null, costUsd: null, metered: 'none' })
})

test('usage without a price is unmetered, not free', () => {
  expect(fold([usage({ input_tokens: 10 })])).toMatchObject({ costUsd: null, metered: 'none' })
})

test('a partly priced trial shows that its cost is a lower bound', () => {
  const cost = fold([usage({ input_tokens: 10, cost_usd: 0.5 }), usage({ input_tokens: 10 })])
  expect(cost).toMatchObject({ costUsd: 0.5, metered: 'some' })
})

test('a price of zero is a price', () => {
  expect(fold([usage({ input_tokens: 10, cost_usd: 0 })])).toMatchObject({ costUsd: 0, metered: 'all' })
})

test('an empty increment without a price does not make a trial partly metered', () => {
  expect(fold([usage({ cost_usd: 1, input_tokens: 1 }), usage({})])).toMatchObject({ metered: 'all' })
})

test('amounts that are no amounts are not added', () => {
  const cost = fold([
    usage({ input_tokens: -5, output_tokens: Number.NaN, cost_usd: 1 }),
    usage({ input_tokens: 3, cost_usd: Number.POSITIVE_INFINITY }),
    usage({ input_tokens: 3, cost_usd: -1 }),
  ])
  expect(cost).toEqual({
    tokens: { input: 6, output: 0, cacheRead: 0, cacheWrite: 0 },
    costUsd: 1,
    metered: 'some',
  })
})

test('the total does not depend on how the increments are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), (amounts) => {
      const parts = fold(amounts.map((tokens) => usage({ input_tokens: tokens, cost_usd: tokens })))
      const total = amounts.reduce((sum, tokens) => sum + tokens, 0)
      expect(parts.tokens?.input ?? 0).toBe(total)
      expect(parts.costUsd ?? 0).toBe(total)
    }),
  )
})

function usage(fields: Partial<UsageEvent>): UsageEvent {
  return { event: 'usage', ts: 0, input_tokens: 0, output_tokens: 0, ...fields }
}

function fold(events: readonly GantryEvent[]): Cost {
  const folding = foldCost()
  for (const event of events) folding.add(event)
  return folding.finish()
}
