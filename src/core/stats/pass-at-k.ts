/** Chance that at least one of `k` tries passes, estimated without bias from `passes` of `n`. null when `k` is not in 1..n. */
export function passAtK(n: number, passes: number, k: number): number | null {
  const allFail = chanceOfAll(n, n - passes, k)
  return allFail === null ? null : 1 - allFail
}

/** Chance that all of `k` tries pass, estimated without bias: not `(passes / n) ** k`. null when `k` is not in 1..n. */
export function passHatK(n: number, passes: number, k: number): number | null {
  return chanceOfAll(n, passes, k)
}

/** C(wanted, k) / C(n, k) as a product of shares: no factor leaves 0..1, so nothing overflows. */
function chanceOfAll(n: number, wanted: number, k: number): number | null {
  if (k < 1 || k > n) return null
  if (wanted < k) return 0
  let chance = 1
  for (let drawn = 0; drawn < k; drawn += 1) chance *= (wanted - drawn) / (n - drawn)
  return chance
}
