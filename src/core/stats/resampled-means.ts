/** Means of as many samples of the values, each drawn with replacement and as large as the original. Sorted. */
export function resampledMeans(values: Float64Array, resamples: number, random: () => number): Float64Array {
  const result = new Float64Array(resamples)
  for (let sample = 0; sample < resamples; sample += 1) {
    let sum = 0
    for (let draw = 0; draw < values.length; draw += 1)
      sum += values[Math.floor(random() * values.length)] ?? 0
    result[sample] = sum / values.length
  }
  return result.sort()
}

/** Between two neighbours in proportion. */
export function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? 0
  const above = sorted[Math.ceil(place)] ?? below
  return below + (above - below) * (place - Math.floor(place))
}
