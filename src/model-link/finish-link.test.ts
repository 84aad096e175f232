import { describe, expect, test } from 'vitest'
import type { ExchangeFacts } from '../models/boundary/contract.ts'
import type { ModelLink } from '../models/boundary/model-link.ts'
import { boundaryScriptSchema } from '../models/boundary/script/schema.ts'
import { upstreamFrom } from '../models/boundary/upstream.ts'
import { createCallLog } from './finish-link.ts'

const provider = { kind: 'provider', upstream: upstreamFrom({}) } as const
const script = { kind: 'script', script: boundaryScriptSchema.parse({ turns: [{ text: 'a' }] }) } as const
const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }

function having(modelLink: ModelLink, ...exchanges: readonly Partial<ExchangeFacts>[]) {
  const calls = createCallLog(modelLink, false, () => {})
  for (const [index, exchange] of exchanges.entries())
    calls.add({
      index,
      api: 'anthropic',
      model: 'm',
      kind: 'turn',
      status: 200,
      tokens: null,
      costUsd: null,
      durationMs: 1,
      by: 'upstream',
      ...exchange,
    })
  return calls
}

describe('the failure of a provider', () => {
  const off = { source: provider, replay: 'off' } as const

  test.each([
    [401, 'auth'],
    [429, 'rate_limit'],
    [529, 'overloaded'],
    [502, 'unavailable'],
  ])('with status %i at the end is %s', (status, reason) => {
    expect(having(off, {}, { status }).failure()).toMatchObject({ reason })
  })

  test('is not reported when a later call was answered, or only the token count failed', () => {
    expect(having(off, { status: 529 }, {}).failure()).toBeNull()
    expect(having(off, {}, { status: 404, kind: 'count_tokens' }).failure()).toBeNull()
    expect(having(off).failure()).toBeNull()
  })

  test('is not reported when it was intended: a fault, a refusal by Gantry, a script, a cassette', () => {
    expect(having(off, { status: 429, by: 'fault' }).failure()).toBeNull()
    expect(having(off, { status: 402, by: 'refused' }).failure()).toBeNull()
    expect(having({ source: script, replay: 'record' }, { status: 401, by: 'record' }).failure()).toBeNull()
    expect(having({ source: provider, replay: 'strict' }, { status: 401, by: 'replay' }).failure()).toBeNull()
  })
})

describe('the paid cost', () => {
  test('is zero for a script and for a cassette', () => {
    expect(having({ source: script, replay: 'record' }, { by: 'record', tokens, costUsd: 1 }).paidUsd()).toBe(
      0,
    )
    expect(
      having({ source: provider, replay: 'strict' }, { by: 'replay', tokens, costUsd: 1 }).paidUsd(),
    ).toBe(0)
  })

  test('is the sum of the calls that reached a provider', () => {
    const auto = { source: provider, replay: 'auto' } as const
    const calls = having(
      auto,
      { by: 'replay', tokens, costUsd: 1 },
      { by: 'record', tokens, costUsd: 2 },
      { by: 'record', tokens, costUsd: null },
      { by: 'record', status: 500 },
    )
    expect(calls.paidUsd()).toBe(2)
  })

  test('is unknown when the cost of no call is known', () => {
    const off = { source: provider, replay: 'off' } as const
    expect(having(off, { tokens, costUsd: null }).paidUsd()).toBeNull()
  })
})

test('the wait of the last refusal is reported, and dropped when a later call succeeds', () => {
  const off = { source: provider, replay: 'off' } as const
  expect(having(off, { status: 429, retryAfterMs: 3_000 }).retryAfterMs()).toBe(3_000)
  expect(having(off, { status: 429, retryAfterMs: 3_000 }, {}).retryAfterMs()).toBeNull()
})
