import { describe, expect, test } from 'vitest'
import { endingOfAbort, isStoppedByUs, passedLimit } from './limits.ts'

const nothing = { costUsd: null, tokens: null }

test('reaching a limit is not passing it', () => {
  expect(passedLimit({ maxTurns: 2, maxCostUsd: 1 }, 2, { ...nothing, costUsd: 1 })).toBeNull()
  expect(passedLimit({ maxTurns: 2 }, 3, nothing)).toBe('over_turns')
  expect(passedLimit({ maxCostUsd: 1 }, 0, { ...nothing, costUsd: 1.01 })).toBe('over_budget')
  expect(passedLimit({ maxCostUsd: 1 }, 0, nothing)).toBeNull()
})

describe('an abort', () => {
  test('with the reason over_budget is a limit, any other a cancellation', () => {
    expect(endingOfAbort(AbortSignal.abort('over_budget'))).toBe('over_budget')
    for (const reason of [undefined, 'mismatch', new Error('over_budget')])
      expect(endingOfAbort(AbortSignal.abort(reason))).toBe('cancelled')
  })

  test('makes what the agent complains of our doing, the end of its time does not', () => {
    expect(['over_budget', 'over_turns', 'cancelled'].every((ending) => isStoppedByUs(ending as never))).toBe(
      true,
    )
    expect(isStoppedByUs('timed_out')).toBe(false)
  })
})
