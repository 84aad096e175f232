import { boundsOfSettings } from '../guard-engine/boundary/bounds-of-settings.ts'
import { whyCall } from '../guard-engine/boundary/why-call.ts'
import type { Rule } from './contract.ts'

/** No tool writes outside the boundary, where one is set; whatever the tool and however the place is spelled or reached. */
export const confineWrites: Rule = {
  name: 'confine-writes',
  on: ['tool_before'],
  judge({ event, settings, world }) {
    if (event.kind !== 'tool_before' || !settings.boundary.enabled) return null
    const bounds = boundsOfSettings(settings.boundary, event.root, world)
    const why = whyCall(event.call, event.cwd, bounds, world)
    return why === null ? null : { deny: `${why} ${whoDecides}` }
  },
}

const whoDecides =
  'Do what can be done inside, and tell the person what else you would change and why. Where you may write is set by the person in harness.json, boundary, or in HARNESS_BOUNDARY_ variables.'
