import type { EditHistory, PastCall } from '../contract.ts'
import { printable } from '../printable.ts'
import { isEdit, type Loop, type LoopDetector, quoted } from './loop.ts'

const periods = [2, 3, 4]

/** Two to four different calls alternate with the same results, and the tree is the same as one round before. */
export const cycle: LoopDetector = (calls, threshold) => {
  const acting = calls.filter(({ quiet }) => quiet === undefined)
  if (calls.at(-1)?.quiet) return null
  for (const period of periods) {
    const rounds = Math.floor(periodicTail(acting, period) / period)
    if (rounds < threshold) continue
    const round = acting.slice(-period)
    // A single call, and changes of one file back and forth, have their own detectors.
    if (new Set(round.map(({ signature }) => signature)).size === 1 || isOneFile(round)) continue
    return {
      key: `cycle ${round
        .map(({ signature }) => signature)
        .toSorted()
        .join(' ')}`,
      times: rounds,
      what: `the same ${period} calls went round ${rounds} times with the same results: ${round.map(quoted).join(', ')}`,
      advice: 'Another round will give the same result. Decide what new information is missing and get it.',
    }
  }
  return null
}

/** Whether the call could complete a round, so that the tree is needed. Called before the call is in the history. */
export function continuesCycle(calls: readonly PastCall[], signature: string): boolean {
  const acting = calls.filter(({ quiet }) => quiet === undefined)
  return periods.some(
    (period) =>
      acting.at(-period)?.signature === signature &&
      acting.at(-1)?.signature === acting.at(-1 - period)?.signature &&
      acting.at(-1) !== undefined,
  )
}

/** How many of the newest calls repeat those `period` before them, including that earlier round; 0 when none does. */
function periodicTail(calls: readonly PastCall[], period: number): number {
  let length = 0
  for (let at = calls.length - 1; at >= period; at -= 1) {
    const call = calls[at]
    const before = calls[at - period]
    if (call === undefined || before === undefined || !repeats(call, before, length === 0)) break
    length += 1
  }
  return length === 0 ? 0 : length + period
}

function repeats(call: PastCall, before: PastCall, isNewest: boolean): boolean {
  if (call.signature !== before.signature || call.result !== before.result) return false
  if (call.place !== before.place) return false
  if (call.outcome !== before.outcome) return false
  if (call.tree !== null && before.tree !== null) return call.tree === before.tree
  // The tree was not read in the first rounds. If it is not available now either, only failures are sure to change nothing.
  return !isNewest || call.outcome === 'failure' || sameContents(call, before)
}

function isOneFile(round: readonly PastCall[]): boolean {
  return (
    round.every(isEdit) && new Set(round.flatMap(({ edited }) => edited.map(({ path }) => path))).size === 1
  )
}

function sameContents(call: PastCall, before: PastCall): boolean {
  return call.edited.length > 0 && JSON.stringify(call.edited) === JSON.stringify(before.edited)
}

/** The content of a file returns to an earlier state more than once: A, B, A, B. */
export function oscillation(call: PastCall, files: EditHistory['files'], threshold: number): Loop | null {
  for (const { path } of call.edited) {
    const returns = returnsIn(files[path]?.contents ?? [])
    const needed = Math.max(2, threshold - 1)
    if (returns === null || returns.count < needed) continue
    return {
      key: `oscillation ${path} ${returns.state}`,
      // Two returns are the first full round trip worth reporting.
      times: threshold + returns.count - needed,
      what: `the content of ${printable(path, 300)} went back to an earlier state ${returns.count} times`,
      advice:
        'Each version undoes the one before it. Write down what both versions are for and find one that serves both.',
    }
  }
  return null
}

/** null unless the newest content existed before. `state` identifies the loop, whatever the current content. */
function returnsIn(hashes: readonly (string | null)[]) {
  const states = hashes
    .map((hash) => hash ?? 'gone')
    .filter((hash, index, all) => index === 0 || hash !== all[index - 1])
  const seenBefore = states.map((state, index) => states.indexOf(state) < index)
  if (seenBefore.at(-1) !== true) return null
  const returned = states.filter((_, index) => seenBefore[index])
  return { count: returned.length, state: returned.toSorted()[0] ?? '' }
}
