import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createUsageRows } from './usage-rows.ts'

const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }

test('calls are added up per model, in the order in which the models appeared', () => {
  const ledger = createUsageRows()
  ledger.add({ model: 'b', tokens, costUsd: 0.5 })
  ledger.add({ model: 'a', tokens, costUsd: null })
  ledger.add({ model: 'b', tokens: { ...tokens, thinking: 1 }, costUsd: 0.25 })
  expect(ledger.rows()).toEqual([
    {
      model: 'b',
      calls: 2,
      tokens: { input: 2, output: 4, cacheRead: 6, cacheWrite: 8, thinking: 1 },
      costUsd: 0.75,
    },
    { model: 'a', calls: 1, tokens, costUsd: null },
  ])
})

test('one call of unknown price makes the model unmetered, and returned rows do not change', () => {
  const ledger = createUsageRows()
  ledger.add({ model: 'm', tokens, costUsd: 1 })
  const before = ledger.rows()
  ledger.add({ model: 'm', tokens, costUsd: null })
  ledger.add({ model: 'm', tokens, costUsd: 1 })
  expect(ledger.rows()).toMatchObject([{ calls: 3, costUsd: null }])
  expect(before).toMatchObject([{ calls: 1, costUsd: 1 }])
})

test('no call is lost, whatever the model names', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'toString', '__proto__', '')), (models) => {
      const ledger = createUsageRows()
      for (const model of models) ledger.add({ model, tokens, costUsd: 0 })
      expect(ledger.rows().reduce((sum, { calls }) => sum + calls, 0)).toBe(models.length)
      expect(ledger.rows().map(({ model }) => model)).toEqual([...new Set(models)])
    }),
  )
})
