import { expect, test } from 'vitest'
import { batchSize } from './journal.ts'

test("a fraction of the provider's limits", () => {
  expect(batchSize(1)).toEqual({ requests: 100_000, bytes: 268_435_456 })
  expect(batchSize(0.75)).toEqual({ requests: 75_000, bytes: 201_326_592 })
})
