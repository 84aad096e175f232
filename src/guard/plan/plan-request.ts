import { z } from 'zod'

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
