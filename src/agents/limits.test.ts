import { describe, expect, test } from 'vitest'
import { endingOfAbort, isStoppedByUs, passedLimit } from './limits.ts'

const nothing = { costUsd: null, tokens: null }

test('reaching a limit is not exceeding it', () => {
  expect(passedLimit({ maxTurns: 2, maxCostUsd: 1 }, 2, { ...nothing, costUsd: 1 })).toBeNull()
  expect(passedLimit({ maxTurns: 2 }, 3, nothing)).toBe('over_turns')
  expect(passedLimit({ maxCostUsd: 1 }, 0, { ...nothing, costUsd: 1.01 })).toBe('over_budget')
  expect(passedLimit({ maxCostUsd: 1 }, 0, nothing)).toBeNull()
})

test('an agent is stopped by the limit that applies now: others may have spent or left money since', () => {
  const cost = { ...nothing, costUsd: 1.5 }
  const asked: number[] = []
  const raiseTo = (usd: number | null) => (neededUsd: number) => {
    asked.push(neededUsd)
    return usd
  }
  expect(passedLimit({ maxCostUsd: 1, raiseCostLimit: raiseTo(2) }, 0, cost)).toBeNull()
  expect(passedLimit({ maxCostUsd: 1, raiseCostLimit: raiseTo(null) }, 0, cost)).toBeNull()
  expect(passedLimit({ maxCostUsd: 1, raiseCostLimit: raiseTo(1) }, 0, cost)).toBe('over_budget')
  expect(passedLimit({ maxCostUsd: 2, raiseCostLimit: raiseTo(0) }, 0, cost)).toBe('over_budget')
  expect(asked).toEqual([1.5, 1.5, 1.5, 1.5])
})

describe('an abort', () => {
  test('with the reason over_budget is a limit, with any other a cancellation', () => {
    expect(endingOfAbort(AbortSignal.abort('over_budget'))).toBe('over_budget')
    for (const reason of [undefined, 'mismatch', new Error('over_budget')])
      expect(endingOfAbort(AbortSignal.abort(reason))).toBe('cancelled')
  })

  test('makes failures of the agent a consequence of the stop, but a timeout does not', () => {
    expect(['over_budget', 'over_turns', 'cancelled'].every((ending) => isStoppedByUs(ending as never))).toBe(
      true,
    )
    expect(isStoppedByUs('timed_out')).toBe(false)
  })
})
