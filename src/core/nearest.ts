/** The candidate most similar to a mistyped word; undefined when none is close. The earlier one wins a tie. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(word)
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  let best: string | undefined
  let bestDistance = limit + 1
  for (const candidate of candidates) {
    const folded = fold(candidate)
    if (Math.abs(folded.length - wanted.length) >= bestDistance) continue
    const distance = editDistance(wanted, folded)
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** The advice about a word that is none of the candidates: the nearest one, else what is given. */
export function didYouMean(word: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearest(word, candidates)
  return near === undefined ? otherwise : `Did you mean '${near}'?`
}

/** `timeoutSecs`, `timeout-secs` and `TIMEOUT_SECS` are the same word in different styles. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]/g, '')
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
