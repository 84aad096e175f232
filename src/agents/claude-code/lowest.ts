/** The lower of two limits, either of which may not be there. */
export function lowest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one)
}
