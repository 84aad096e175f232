import { describe, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'

/** Describes what needs these agents, or skips it aloud. In CI nothing is skipped: there a missing agent fails. */
export function whenInstalled(ids: readonly string[], name: string, body: () => void): void {
  const missing = ids.filter((id) => findAgent(id) === null)
  if (missing.length === 0 || process.env.CI === 'true') {
    describe(name, body)
    return
  }
  console.warn(`skipped: ${missing.join(', ')} not installed; npm run test:all installs it`)
  describe.skip(name, () => test('the agent is installed', () => {}))
}
