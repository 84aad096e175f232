import { callRefusal } from '../guard-engine/write-limits/call-refusal.ts'
import { limitsOfSettings } from '../guard-engine/write-limits/write-limits.ts'
import type { Rule } from './contract.ts'

/** Denies writes outside the write limits, if they are set: for every tool, however the path is written or reached. */
export const confineWrites: Rule = {
  name: 'confine-writes',
  on: ['tool_before'],
  judge({ event, settings, world }) {
    if (event.kind !== 'tool_before' || !settings.boundary.enabled) return null
    const limits = limitsOfSettings(settings.boundary, event.root, world)
    const why = callRefusal(event.call, event.cwd, limits, world)
    return why === null ? null : { deny: `${why} ${whoDecides}` }
  },
}

const whoDecides =
  'Do what you can inside the limits, and tell the user what else you would change and why. The user sets the limits in harness.json under boundary, or in HARNESS_BOUNDARY_ variables.'
