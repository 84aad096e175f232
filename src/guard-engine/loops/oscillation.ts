import type { EditHistory, PastCall } from '../contract.ts'
import { printable } from '../printable.ts'
import type { Loop } from './loop.ts'

/** A file's content goes back to what it was before, more than once: A, B, A, B. */
export function oscillation(
  call: PastCall,
  contents: EditHistory['contents'],
  threshold: number,
): Loop | null {
  for (const { path } of call.edited) {
    const returns = returnsIn(contents[path] ?? [])
    const needed = Math.max(2, threshold - 1)
    if (returns === null || returns.count < needed) continue
    return {
      key: `oscillation ${path} ${returns.state}`,
      // Two returns are the first whole round trip that is worth a word.
      times: threshold + returns.count - needed,
      what: `the content of ${printable(path, 300)} went back to an earlier state ${returns.count} times`,
      advice:
        'Each version undoes the one before it. Write down what both versions are for and find one that serves both.',
    }
  }
  return null
}

/** null unless the newest content is one that was left before. `state` names the loop, wherever in it the file is now. */
function returnsIn(
  hashes: readonly (string | null)[],
): { readonly count: number; readonly state: string } | null {
  const states = hashes
    .map((hash) => hash ?? 'gone')
    .filter((hash, index, all) => index === 0 || hash !== all[index - 1])
  const seenBefore = states.map((state, index) => states.indexOf(state) < index)
  if (seenBefore.at(-1) !== true) return null
  const returned = states.filter((_, index) => seenBefore[index])
  return { count: returned.length, state: returned.toSorted()[0] ?? '' }
}
