import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { lastEvents } from '../status/last-event.ts'
import type { PlanWork } from './plan-work.ts'

/** Says once, after an iteration, when the hooks of an agent were never called: then it was not held, whatever files say. */
export function watchGuard({ prepared, step }: PlanWork): () => void {
  const { guard, host, request } = prepared
  if (guard.kind !== 'installed' && guard.kind !== 'temporary') return () => {}
  const since = new Date().toISOString()
  let isSettled = false
  return () => {
    if (isSettled) return
    isSettled = true
    const seen = lastEvents(guardHome(host), request.root).get(guard.agent) ?? ''
    if (seen >= since) return
    step({
      kind: 'note',
      level: 'warning',
      message: `The guard heard nothing of ${request.agent}: its hooks did not run. Gantry's own verification decides all the same. See gantry guard status --agent ${guard.agent}.`,
    })
  }
}
