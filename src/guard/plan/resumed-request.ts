import { GantryError } from '../../core/error.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { type PlanLimits, type PlanRequest, planRequestSchema } from './plan-request.ts'

/** What a run was asked when it began, with the limits that are said anew. */
export function resumedRequest(store: Store, runId: string, limits: PlanLimits): PlanRequest {
  const run = openRun(store, runId)
  const { kind } = run.manifest()
  if (kind !== 'plan') {
    throw new GantryError('USAGE', `${runId} is a run of the kind ${kind}, not of a plan`, {
      hint: 'See "gantry runs list --kind plan".',
    })
  }
  const plan = run.plan()
  const frozen = planRequestSchema.safeParse(plan !== null && 'request' in plan ? plan.request : null)
  if (!frozen.success) {
    throw new GantryError('CORRUPT', `what ${runId} was asked cannot be read`, {
      hint: 'Start a new run; boxes that are ticked stay ticked.',
    })
  }
  return planRequestSchema.parse({ ...frozen.data, ...limits })
}
