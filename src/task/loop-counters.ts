import type { VerifierStatus } from '../verifier/contract.ts'
import { type LoopAction, type LoopCounters, loopLimits } from './contract.ts'

export const noLoopCounters: LoopCounters = { consecutiveFailures: 0, totalVerifyLoops: 0, replans: 0 }

/** The counters after one verification. A pass resets both. */
export function countVerification(counters: LoopCounters, status: VerifierStatus): LoopCounters {
  const { consecutiveFailures, totalVerifyLoops, replans } = counters
  if (status === 'PASS') return { consecutiveFailures: 0, totalVerifyLoops: 0, replans }
  return {
    consecutiveFailures: consecutiveFailures + (status === 'FAIL' ? 1 : 0),
    totalVerifyLoops: totalVerifyLoops + 1,
    replans,
  }
}

/** The action after a verification, from the counters after it. The hard stop wins when both limits are reached. */
export function nextAction(counters: LoopCounters, status: VerifierStatus): LoopAction {
  switch (status) {
    case 'PASS':
      return 'SUCCESS'
    case 'INFRA_ERROR':
      return 'INFRA_STOP'
    case 'FAIL':
      if (counters.totalVerifyLoops >= loopLimits.hardStopAt) return 'HARD_STOP'
      return counters.consecutiveFailures >= loopLimits.replanAfter ? 'REPLAN' : 'CONTINUE'
  }
}

/** A new strategy does not reset the total. */
export function countReplan({ totalVerifyLoops, replans }: LoopCounters): LoopCounters {
  return { consecutiveFailures: 0, totalVerifyLoops, replans: replans + 1 }
}
