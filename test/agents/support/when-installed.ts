import { describe, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'

/** Runs tests that need these agents, or skips them with a warning. In CI a missing agent is a failure. */
export function whenInstalled(ids: readonly string[], name: string, body: () => void): void {
  const missing = ids.filter((id) => findAgent(id) === null)
  if (missing.length === 0 || process.env.CI === 'true') {
    describe(name, body)
    return
  }
  console.warn(`skipped: ${missing.join(', ')} not installed; npm run test:all installs it`)
  describe.skip(name, () => test('the agent is installed', () => {}))
}
