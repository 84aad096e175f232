import type { PastCall } from '../contract.ts'
import { bareOutcome } from '../outcome-signature.ts'
import { isEdit, type LoopDetector, quoted } from './loop.ts'

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
