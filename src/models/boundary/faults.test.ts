import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFaultPlan, type Fault, faultsSchema, parseFault } from './faults.ts'

function struck(config: unknown, calls: number): (Fault['kind'] | null)[] {
  const plan = createFaultPlan(faultsSchema.parse(config))
  return Array.from({ length: calls }, (_, index) => plan.next(index)?.kind ?? null)
}

describe('createFaultPlan', () => {
  test('hits the listed calls', () => {
    expect(struck({ faults: [{ fault: 'cut', at: [0, 2] }] }, 4)).toEqual(['cut', null, 'cut', null])
  })

  test('hits every n-th call', () => {
    expect(struck({ faults: [{ fault: 'stall', every: 2 }] }, 5)).toEqual([
      null,
      'stall',
      null,
      'stall',
      null,
    ])
  })

  test('a rule without a condition hits every call, up to its limit', () => {
    expect(struck({ faults: [{ fault: 'slow', times: 2 }] }, 4)).toEqual([
      'slow_first_byte',
      'slow_first_byte',
      null,
      null,
    ])
  })

  test('the first matching rule wins, and the limits of the others are not used up', () => {
    const faults = [
      { fault: 'cut', at: 0 },
      { fault: 'stall', times: 1 },
    ]
    expect(struck({ faults }, 3)).toEqual(['cut', 'stall', null])
  })

  test('the same seed hits the same calls, another seed hits others', () => {
    const config = (seed: number) => ({ seed, faults: [{ fault: 'rate_limit', probability: 0.3 }] })
    expect(struck(config(7), 200)).toEqual(struck(config(7), 200))
    expect(struck(config(7), 200)).not.toEqual(struck(config(8), 200))
  })

  test('the hit rate approaches the probability', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const hits = struck({ seed, faults: [{ fault: 'cut', probability: 0.2 }] }, 2_000).filter(Boolean)
        expect(hits.length).toBeGreaterThan(280)
        expect(hits.length).toBeLessThan(520)
      }),
      { numRuns: 20 },
    )
  })

  test('an exhausted rule does not change the random draws of another', () => {
    const lucky = { fault: 'cut', probability: 0.5 }
    const alone = struck({ seed: 3, faults: [{ fault: 'slow', at: 999 }, lucky] }, 50)
    const after = struck({ seed: 3, faults: [{ fault: 'slow', at: 0 }, lucky] }, 50)
    expect(after.slice(1)).toEqual(alone.slice(1))
  })

  test('every fault has its defaults', () => {
    const of = (rule: object) => createFaultPlan(faultsSchema.parse({ faults: [rule] })).next(0)
    expect(of({ fault: 'rate_limit' })).toEqual({ kind: 'status', status: 429, retryAfterSecs: 1 })
    expect(of({ fault: 'rate_limit', retry_after_secs: 0 })).toMatchObject({ retryAfterSecs: 0 })
    expect(of({ fault: 'overloaded' })).toEqual({ kind: 'status', status: 529 })
    expect(of({ fault: 'server_error', status: 503, message: 'down' })).toEqual({
      kind: 'status',
      status: 503,
      message: 'down',
    })
    expect(of({ fault: 'slow', delay_ms: 5 })).toEqual({ kind: 'slow_first_byte', delayMs: 5 })
    expect(of({ fault: 'malformed' })).toEqual({ kind: 'malformed_chunk', atChunk: 0 })
    expect(of({ fault: 'wrong_content_type' })).toEqual({
      kind: 'wrong_content_type',
      contentType: 'text/html',
    })
  })
})

describe('faultsSchema', () => {
  test.each([
    ['two conditions at once', { fault: 'cut', at: 0, every: 2 }],
    ['an option of another fault', { fault: 'cut', delay_ms: 5 }],
    ['an unknown fault', { fault: 'meteor' }],
    ['a status that is not an error', { fault: 'server_error', status: 200 }],
    ['a chance above one', { fault: 'cut', probability: 20 }],
    ['an unknown key', { fault: 'cut', after: 2 }],
  ])('refuses %s', (_, rule) => {
    expect(faultsSchema.safeParse({ faults: [rule] }).success).toBe(false)
  })
})

describe('parseFault', () => {
  test.each([
    ['429@0', { fault: 'rate_limit', status: 429, at: [0] }],
    ['429@0:5', { fault: 'rate_limit', status: 429, at: [0], retry_after_secs: 5 }],
    ['529%20', { fault: 'overloaded', status: 529, probability: 0.2 }],
    ['503/4:2', { fault: 'server_error', status: 503, every: 4, retry_after_secs: 2 }],
    ['cut@2:3', { fault: 'cut', at: [2], after_chunks: 3 }],
    ['stall@0,2', { fault: 'stall', at: [0, 2] }],
    ['slow:500', { fault: 'slow', delay_ms: 500 }],
    ['malformed', { fault: 'malformed' }],
    ['wrong_content_type@1', { fault: 'wrong_content_type', at: [1] }],
  ])('reads %s', (text, rule) => {
    expect(parseFault(text)).toEqual(rule)
  })

  test.each([
    '',
    '200@0',
    '42',
    'cut@',
    'cut@x',
    'cut%120',
    'cut/0',
    'meteor@0',
    'wrong_content_type:3',
    'cut@0:',
  ])('refuses %j with an example', (text) => {
    expect(() => parseFault(text)).toThrow(
      expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('429@0') }),
    )
  })

  test('every accepted text makes a plan', () => {
    const when = fc.oneof(
      fc.constant(''),
      fc.array(fc.nat(50), { minLength: 1 }).map((at) => `@${at.join(',')}`),
      fc.integer({ min: 0, max: 100 }).map((percent) => `%${percent}`),
      fc.integer({ min: 1, max: 9 }).map((every) => `/${every}`),
    )
    const fault = fc.oneof(
      fc.constantFrom('cut', 'stall', 'slow', 'malformed'),
      fc.integer({ min: 400, max: 599 }),
    )
    fc.assert(
      fc.property(fault, when, fc.option(fc.nat(9)), (name, at, amount) => {
        const rule = parseFault(`${name}${at}${amount === null ? '' : `:${amount}`}`)
        expect(() => createFaultPlan({ faults: [rule], seed: 1 }).next(0)).not.toThrow()
      }),
    )
  })
})
