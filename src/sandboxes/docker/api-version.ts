/** What this code was written for. */
const written = '1.41'

/** Ours, unless the engine has grown too old or too new for it. */
export function apiVersionFor(newest: string, oldest: string): string {
  if (compare(newest, written) < 0) return newest
  return compare(oldest, written) > 0 ? oldest : written
}

function compare(left: string, right: string): number {
  const [majorLeft = 0, minorLeft = 0] = left.split('.').map(Number)
  const [majorRight = 0, minorRight = 0] = right.split('.').map(Number)
  return majorLeft - majorRight || minorLeft - minorRight
}
