/**
 * How near several raters are on the same items, 0..1: one minus the mean distance of every pair of ratings of an item.
 * Ratings are in 0..1. It exists for a handful of items, where Krippendorff's alpha does not: raters who
 * agree that everything is perfect have no spread to compare with. null with fewer than two ratings of any item.
 */
export function pairwiseAgreement(items: readonly (readonly number[])[]): number | null {
  let distance = 0
  let pairs = 0
  for (const ratings of items)
    for (const [index, rating] of ratings.entries())
      for (const other of ratings.slice(index + 1)) {
        distance += Math.abs(rating - other)
        pairs += 1
      }
  return pairs === 0 ? null : 1 - distance / pairs
}

/**
 * Krippendorff's alpha for interval data: 1 is perfect agreement, 0 what chance would give, below 0 systematic
 * disagreement. An item's ratings are those that exist: raters may have left some out. For judging a judge over many
 * trials. null when no item was rated twice or all ratings are equal.
 */
export function krippendorffAlpha(items: readonly (readonly number[])[]): number | null {
  const rated = items.filter((ratings) => ratings.length >= 2)
  const all = rated.flat()
  const expected = pairDistance(all) / (all.length - 1)
  if (all.length < 2 || expected === 0) return null
  const observed = rated.reduce((sum, ratings) => sum + pairDistance(ratings) / (ratings.length - 1), 0)
  return 1 - observed / expected
}

/** Sum of squared differences over all pairs, from the spread around the mean. */
function pairDistance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const spread = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  // Equal ratings can miss their own mean by a rounding error, which would pass for disagreement.
  return values.every((value) => value === values[0]) ? 0 : values.length * spread
}
