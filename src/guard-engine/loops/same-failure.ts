import type { PastCall } from '../contract.ts'
import { isEdit, type LoopDetector, quoted } from './loop.ts'

/** The same call fails in the same way again and again, and nothing was changed since. */
export const sameFailure: LoopDetector = (calls, threshold) => {
  const last = calls.at(-1)
  if (last === undefined || last.quiet || last.outcome === 'success') return null
  // Whether an unknown end is a failure is not told: it takes one round more, all on trees that are known.
  const isSure = last.outcome === 'failure'
  if (!isSure && (last.tree === null || last.action !== 'shell')) return null
  const times = repetitions(calls, last)
  if (times < (isSure ? threshold : threshold + 1)) return null
  return {
    key: `same-failure ${last.signature} ${last.result} ${last.tree ?? '-'}`,
    times,
    what: `${quoted(last)} ${isSure ? 'failed' : 'was run'} ${times} times with the same result, and no file changed in between`,
    advice:
      'Running it again gives the same answer. Read what it says, change what causes it, or find another way to the goal.',
  }
}

function repetitions(calls: readonly PastCall[], last: PastCall): number {
  let times = 0
  for (const call of calls.toReversed()) {
    if (call.signature === last.signature) {
      if (call.outcome !== last.outcome || call.result !== last.result || call.tree !== last.tree) break
      times += 1
      // Without trees whatever may have changed something counts as a change.
    } else if (last.tree === null && !call.quiet && (isEdit(call) || call.outcome !== 'failure')) break
  }
  return times
}
