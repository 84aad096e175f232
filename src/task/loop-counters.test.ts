import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { VerifierStatus } from '../verifier/contract.ts'
import type { LoopAction, LoopCounters } from './contract.ts'
import { countReplan, countVerification, nextAction, noLoopCounters } from './loop-counters.ts'

/** The action after each verification. */
function play(statuses: readonly VerifierStatus[]): {
  readonly actions: readonly LoopAction[]
  readonly counters: LoopCounters
} {
  let counters = noLoopCounters
  const actions: LoopAction[] = []
  for (const status of statuses) {
    counters = countVerification(counters, status)
    const action = nextAction(counters, status)
    actions.push(action)
    if (action === 'REPLAN') counters = countReplan(counters)
    if (action === 'HARD_STOP' || action === 'INFRA_STOP') break
  }
  return { actions, counters }
}

const fails = (count: number): readonly VerifierStatus[] => Array.from({ length: count }, () => 'FAIL')

test('a failure below both limits continues', () => {
  expect(play(fails(2))).toEqual({
    actions: ['CONTINUE', 'CONTINUE'],
    counters: { consecutiveFailures: 2, totalVerifyLoops: 2, replans: 0 },
  })
})

test('the third consecutive failure replans, which resets only the consecutive failures', () => {
  expect(play(fails(3))).toEqual({
    actions: ['CONTINUE', 'CONTINUE', 'REPLAN'],
    counters: { consecutiveFailures: 0, totalVerifyLoops: 3, replans: 1 },
  })
})

test('six failures, a REPLAN and three more count as nine, and a success resets the total', () => {
  expect(play(fails(9)).counters).toEqual({ consecutiveFailures: 0, totalVerifyLoops: 9, replans: 3 })
  expect(play([...fails(9), 'PASS']).counters).toEqual({
    consecutiveFailures: 0,
    totalVerifyLoops: 0,
    replans: 3,
  })
})

test('at loop twelve with three consecutive failures the hard stop wins over the REPLAN', () => {
  const { actions } = play(fails(20))
  expect(actions).toHaveLength(12)
  expect(actions.flatMap((action, index) => (action === 'REPLAN' ? [index + 1] : []))).toEqual([3, 6, 9])
  expect(actions.at(-1)).toBe('HARD_STOP')
  expect(nextAction({ consecutiveFailures: 3, totalVerifyLoops: 12, replans: 3 }, 'FAIL')).toBe('HARD_STOP')
})

test('an infrastructure error stops at once, regardless of the counters', () => {
  expect(play(['FAIL', 'INFRA_ERROR', 'FAIL']).actions).toEqual(['CONTINUE', 'INFRA_STOP'])
})

test('the loop agrees with a model that counts backwards, for random results', () => {
  const status = fc.constantFrom<VerifierStatus>('PASS', 'FAIL', 'FAIL', 'FAIL', 'INFRA_ERROR')
  fc.assert(
    fc.property(fc.array(status, { maxLength: 40 }), (statuses) => {
      expect(play(statuses).actions).toEqual(byCountingBack(statuses))
    }),
    { numRuns: 500 },
  )
})

test('there are never more than twelve verifications without a success, and no early REPLAN', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom<VerifierStatus>('PASS', 'FAIL'), { maxLength: 60 }), (statuses) => {
      const { actions } = play(statuses)
      let sinceGreen = 0
      let sinceReplan = 0
      for (const action of actions) {
        sinceGreen = action === 'SUCCESS' ? 0 : sinceGreen + 1
        sinceReplan = action === 'SUCCESS' ? 0 : sinceReplan + 1
        expect(sinceGreen).toBeLessThanOrEqual(12)
        if (action !== 'REPLAN') continue
        expect(sinceReplan).toBe(3)
        sinceReplan = 0
      }
    }),
  )
})

/** Independent of counters: looks at the statuses since the last success. */
function byCountingBack(statuses: readonly VerifierStatus[]): readonly LoopAction[] {
  const actions: LoopAction[] = []
  for (const [index, status] of statuses.entries()) {
    if (status === 'PASS') actions.push('SUCCESS')
    else if (status === 'INFRA_ERROR') return [...actions, 'INFRA_STOP']
    else {
      const since = statuses.slice(statuses.lastIndexOf('PASS', index) + 1, index + 1).length
      if (since === 12) return [...actions, 'HARD_STOP']
      actions.push(since % 3 === 0 ? 'REPLAN' : 'CONTINUE')
    }
  }
  return actions
}
