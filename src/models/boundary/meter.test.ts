import { describe, expect, test } from 'vitest'
import { createBudget } from '../budget.ts'
import type { TokenPrice } from '../price-table.ts'
import type { ModelCall } from './contract.ts'
import { type CallEnd, createMeter, type Meter } from './meter.ts'
import type { ReplyReading } from './wire/contract.ts'

/** A dollar per thousand tokens makes sums easy to check. */
const dear: TokenPrice = { input: 1_000, output: 1_000, cacheRead: 1_000, cacheWrite: 1_000 }
const prices = { 'anthropic:m': dear }

function callOf(model = 'm', maxOutputTokens: number | null = 32_000): ModelCall {
  return {
    api: 'anthropic',
    kind: 'turn',
    model,
    stream: true,
    system: '',
    messages: [],
    tools: ['run'],
    maxOutputTokens,
  }
}

function ended(output: number | null, more: Partial<ReplyReading> = {}): CallEnd {
  const reading: ReplyReading = {
    model: null,
    tokens: output === null ? null : { input: 0, output, cacheRead: 0, cacheWrite: 0 },
    text: '',
    thinking: '',
    toolCalls: [],
    complete: true,
    error: null,
    ...more,
  }
  return { reading, answered: true }
}

function spend(meter: Meter, end: CallEnd, call = callOf()): void {
  const metered = meter.begin(call, 300)
  if (metered.kind === 'refused') throw new Error(metered.message)
  metered.settle(end)
}

describe('createMeter', () => {
  test('adds up tokens and money per model', () => {
    const meter = createMeter([prices], undefined)
    spend(meter, ended(100))
    spend(meter, ended(400))
    spend(meter, ended(5), callOf('unknown'))
    expect(meter.rows()).toMatchObject([
      { model: 'm', calls: 2, costUsd: 0.5, tokens: { output: 500 } },
      { model: 'unknown', calls: 1, costUsd: null, tokens: { output: 5 } },
    ])
    expect(meter.costUsd()).toBeCloseTo(0.5)
  })

  test('no calls cost nothing; the sum is unknown only when all prices are', () => {
    const meter = createMeter([prices], undefined)
    expect(meter.costUsd()).toBe(0)
    spend(meter, ended(5), callOf('unknown'))
    expect(meter.costUsd()).toBeNull()
  })

  test('the first table that contains a model wins, by its full or its short name', () => {
    const meter = createMeter([{ m: { ...dear, output: 5_000 } }, prices], undefined)
    spend(meter, ended(100))
    expect(meter.costUsd()).toBeCloseTo(0.5)
  })

  test('the model that answered is charged, at the price of the requested one when it has no price', () => {
    const meter = createMeter([prices], undefined)
    spend(meter, ended(100, { model: 'm-20260101' }))
    expect(meter.rows()).toMatchObject([{ model: 'm-20260101', costUsd: 0.1 }])
  })

  test('an error costs nothing and is not counted as a call', () => {
    const budget = createBudget(10)
    const meter = createMeter([prices], budget)
    spend(meter, { ...ended(null), answered: false })
    expect(meter.rows()).toEqual([])
    expect(budget.state()).toEqual({ spentUsd: 0, reservedUsd: 0, unmeteredCalls: 0 })
  })

  test('an answer that was cut before it reported its usage is charged as reserved', () => {
    const budget = createBudget(10)
    const meter = createMeter([prices], budget)
    spend(meter, ended(null, { complete: false }))
    expect(meter.rows()).toEqual([])
    // 300 bytes of prompt are 100 tokens, and the first call reserves 1,024 tokens of output.
    expect(budget.state()).toEqual({ spentUsd: 1.124, reservedUsd: 0, unmeteredCalls: 0 })
  })

  test('a call to a model without a price is unmetered', () => {
    const budget = createBudget(10)
    spend(createMeter([], budget), ended(5))
    expect(budget.state()).toEqual({ spentUsd: 0, reservedUsd: 0, unmeteredCalls: 1 })
  })

  test('an absurd usage report is not charged', () => {
    const budget = createBudget(10)
    const meter = createMeter([prices], budget)
    for (const output of [-5, Number.NaN, Infinity]) spend(meter, ended(output))
    expect(meter.costUsd()).toBeNull()
  })
})

describe('the reservation', () => {
  const reserved = (meter: Meter, budget: ReturnType<typeof createBudget>, call = callOf()): number => {
    const metered = meter.begin(call, 300)
    const { reservedUsd } = budget.state()
    if (metered.kind === 'granted') metered.settle({ reading: null, answered: false })
    return reservedUsd
  }

  test('covers the prompt and a little output for the first call, whatever limit the agent requests', () => {
    const budget = createBudget(100)
    expect(reserved(createMeter([prices], budget), budget)).toBeCloseTo(1.124)
  })

  test('is never more than the call can cost', () => {
    const budget = createBudget(100)
    expect(reserved(createMeter([prices], budget), budget, callOf('m', 10))).toBeCloseTo(0.11)
  })

  test('is twice the average cost of the session for later calls', () => {
    const budget = createBudget(100)
    const meter = createMeter([prices], budget)
    spend(meter, ended(100))
    spend(meter, ended(300))
    expect(reserved(meter, budget)).toBeCloseTo(0.4)
  })

  test('refuses calls beyond the cap, so that at most one call exceeds it', () => {
    const budget = createBudget(2)
    const meter = createMeter([prices], budget)
    let calls = 0
    for (; calls < 100; calls += 1) {
      const metered = meter.begin(callOf(), 300)
      if (metered.kind === 'refused') break
      metered.settle(ended(150))
    }
    expect(calls).toBe(12)
    expect(budget.state().spentUsd).toBeLessThan(2 + 0.15)
    expect(meter.begin(callOf(), 300)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('the budget of $2.00'),
    })
  })

  test('counts running calls', () => {
    const meter = createMeter([prices], createBudget(3))
    const kinds = Array.from({ length: 4 }, () => meter.begin(callOf(), 300).kind)
    expect(kinds).toEqual(['granted', 'granted', 'refused', 'refused'])
  })
})
