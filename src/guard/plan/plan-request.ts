import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'

/** What a plan run was asked to do; frozen with it, so that it can go on. */
export const planRequestSchema = z.strictObject({
  /** Absolute, real path of the project. */
  root: z.string().min(1),
  /** Path of the plan below the root, with `/`. */
  plan: z.string().min(1),
  agent: z.string().min(1),
  model: z.string().min(1).default('default'),
  /** Absolute. */
  configFile: z.string().min(1).optional(),
  /** Attempts at one task. */
  maxAttempts: z.int().positive().default(3),
  /** Over all tasks; without it as many as tasks and attempts make. */
  maxIterations: z.int().positive().optional(),
  maxCostUsd: z.number().positive().optional(),
  /** Of the agent in one iteration. */
  timeoutMs: z
    .int()
    .positive()
    .default(30 * 60_000),
  commit: z.boolean().default(false),
})

export type PlanRequest = z.output<typeof planRequestSchema>

/** What may be said anew when a run goes on: none of it changes what was done so far. */
export type PlanLimits = Pick<
  z.input<typeof planRequestSchema>,
  'maxAttempts' | 'maxIterations' | 'maxCostUsd' | 'timeoutMs'
>

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
