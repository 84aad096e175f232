import { expect, test } from 'vitest'
import { costSoFar, type IterationEnd, noProgress, withIteration } from './iteration-record.ts'

function after(...ends: readonly IterationEnd[]) {
  return ends.reduce(withIteration, noProgress)
}

const failed = { case: 'a', verdict: 'fail', costUsd: 0.5 } as const
const passed = { case: 'a', verdict: 'pass', costUsd: 0.25 } as const
const lost = { case: 'a', verdict: 'infra', costUsd: null } as const

test('only rejected attempts count against a task', () => {
  const { attempts, iterations } = after(failed, lost, failed, { ...failed, case: 'b' }, passed)
  expect([attempts.get('a'), attempts.get('b'), iterations]).toEqual([2, 1, 4])
})

test('lost iterations are counted only while they follow each other', () => {
  expect(after(lost, lost).lostInRow).toBe(2)
  expect(after(lost, lost, failed).lostInRow).toBe(0)
  expect(after(failed, lost).lostInRow).toBe(1)
})

test('known costs are summed up, and unknown costs are unmetered, not zero', () => {
  expect(costSoFar(after(failed, passed))).toBe(0.75)
  expect(costSoFar(after({ ...failed, costUsd: null }))).toBeNull()
  expect(costSoFar(after(lost))).toBeNull()
  const mixed = after(failed, { ...failed, costUsd: null })
  expect([costSoFar(mixed), mixed.unmetered]).toEqual([0.5, 1])
  expect(costSoFar(noProgress)).toBe(0)
})
