import type { PastCall } from '../contract.ts'
import { bareOutcome } from '../outcome-signature.ts'
import { isEdit, type LoopDetector, quoted } from './loop.ts'

/** The same call fails in the same way again and again, and nothing was changed since. */
export const sameFailure: LoopDetector = (calls, threshold) => {
  const last = calls.at(-1)
  if (last === undefined || last.quiet || last.outcome === 'success') return null
  // An unknown end may not be a failure: it takes one more round, all on known trees.
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

/** Files are changed, and the same error comes back each time. */
export const sameError: LoopDetector = (calls, threshold) => {
  const last = calls.at(-1)
  if (last === undefined || last.outcome !== 'failure' || last.quiet || isEditing(last)) return null
  let times = 1
  let later = last
  let edited = false
  for (const call of calls.slice(0, -1).toReversed()) {
    if (isEdit(call)) edited = true
    else if (isSameError(call, last)) {
      if (changed(call, later, edited)) times += 1
      later = call
      edited = false
      // The same check gave something else: there was progress, or at least news.
    } else if (call.signature === last.signature) break
  }
  if (times < threshold) return null
  return {
    key: `same-error ${last.result}`,
    times,
    what: `the same error came back ${times} times after changes: ${quoted(last)} still fails with it`,
    advice:
      'The changes so far do not touch its cause. Read the error from the top, check that the code being run is the code being changed, and test one assumption at a time.',
  }
}

function isEditing({ action }: PastCall): boolean {
  return action === 'write' || action === 'edit' || action === 'patch'
}

function isSameError(call: PastCall, last: PastCall): boolean {
  if (call.outcome !== 'failure' || call.result !== last.result || isEditing(call)) return false
  return call.signature === last.signature || !last.result.startsWith(bareOutcome)
}

function changed(before: PastCall, after: PastCall, edited: boolean): boolean {
  return before.tree === null || after.tree === null ? edited : before.tree !== after.tree
}
