import type { PastCall } from '../contract.ts'
import { bareOutcome } from '../outcome-signature.ts'
import { isEditing } from '../store-event.ts'
import { isEdit, type LoopDetector, quoted } from './loop.ts'

/** The same call fails repeatedly in the same way, and nothing was changed in between. */
export const repeatedFailure: LoopDetector = (calls, threshold) => {
  const last = calls.at(-1)
  if (last === undefined || last.quiet || last.outcome === 'success') return null
  // An unknown result may not be a failure, so one more round is needed, all with known trees.
  const isSure = last.outcome === 'failure'
  if (!isSure && (last.tree === null || last.action !== 'shell')) return null
  const times = repetitions(calls, last)
  if (times < (isSure ? threshold : threshold + 1)) return null
  return {
    key: `same-failure ${last.signature} ${last.result} ${last.tree ?? '-'}`,
    times,
    what: `${quoted(last)} ${isSure ? 'failed' : 'was run'} ${times} times with the same result, and no file changed in between`,
    advice:
      'Running it again will give the same result. Read its output, fix the cause, or find another way to the goal.',
  }
}

function repetitions(calls: readonly PastCall[], last: PastCall): number {
  let times = 0
  for (const call of calls.toReversed()) {
    if (isSameWork(call, last)) {
      if (call.outcome !== last.outcome || call.result !== last.result || call.tree !== last.tree) break
      times += 1
      // Without trees, every call that may change something counts as a change.
    } else if (last.tree === null && !call.quiet && (isEdit(call) || call.outcome !== 'failure')) break
  }
  return times
}

/** Files are changed, but the same error returns each time. */
export const repeatedError: LoopDetector = (calls, threshold) => {
  const last = calls.at(-1)
  if (last === undefined || last.outcome !== 'failure' || last.quiet || isEditing(last.action)) return null
  let times = 1
  let later = last
  let edited = false
  const trees = new Set([last.tree])
  for (const call of calls.slice(0, -1).toReversed()) {
    if (isEdit(call)) edited = true
    else if (isSameError(call, last)) {
      // An earlier state of the files, as after `git stash pop`, is not a new attempt.
      if (changed(call, later, edited) && (call.tree === null || !trees.has(call.tree))) times += 1
      trees.add(call.tree)
      later = call
      edited = false
      // The same check gave another result, so there was progress.
    } else if (isSameWork(call, last)) break
  }
  if (times < threshold) return null
  return {
    key: `same-error ${last.result}`,
    times,
    what: `the same error came back ${times} times after changes: ${quoted(last)} still fails with it`,
    advice:
      'The changes so far do not fix its cause. Read the error from the top, check that the code being run is the code being changed, and test one assumption at a time.',
  }
}

/** The same call in the same place. */
function isSameWork(call: PastCall, last: PastCall): boolean {
  return call.signature === last.signature && call.place === last.place
}

function isSameError(call: PastCall, last: PastCall): boolean {
  if (call.outcome !== 'failure' || call.result !== last.result || isEditing(call.action)) return false
  if (call.place !== last.place) return false
  return call.signature === last.signature || !last.result.startsWith(bareOutcome)
}

function changed(before: PastCall, after: PastCall, edited: boolean): boolean {
  return before.tree === null || after.tree === null ? edited : before.tree !== after.tree
}
