import { test } from 'vitest'

/**
 * `needs('a terminal', hasPty)('sentence', …)`: where the part is missing the test is skipped, aloud. With CI=true it is run all the
 * same and fails: a missing part is then a fault of the machine that nobody may overlook.
 */
export function needs(part: string, isThere: boolean): typeof test {
  if (isThere || process.env.CI === 'true') return test
  console.warn(`skipped: this machine has no ${part}`)
  return test.skip as typeof test
}
