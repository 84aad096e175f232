import { callRefusal } from '../guard-engine/write-limits/call-refusal.ts'
import { limitsOfSettings } from '../guard-engine/write-limits/write-limits.ts'
import type { Rule } from './contract.ts'

/** Refuses writes outside the write limits, when they are set: for every tool, however the path is spelled or reached. */
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
  'Do what can be done inside, and tell the user what else you would change and why. Where you may write is set by the user in harness.json, boundary, or in HARNESS_BOUNDARY_ variables.'
