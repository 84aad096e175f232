import { test } from 'vitest'

/**
 * `needs('a terminal', hasPty)('sentence', …)`: without the part the test is skipped with a warning. With CI=true it runs anyway
 * and fails, so that a missing part is noticed. Not so for a part that the machine of CI may lack (`mayLack`), such as a toolchain.
 */
export function needs(part: string, isThere: boolean, { mayLack = false } = {}): typeof test {
  if (isThere || (process.env.CI === 'true' && !mayLack)) return test
  console.warn(`skipped: this machine has no ${part}`)
  return test.skip as typeof test
}
