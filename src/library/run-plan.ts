import { z } from 'zod'
import { openProjectStore } from '../config/open-project-store.ts'
import type { PlanEvent } from '../guard/plan/plan-event.ts'
import {
  type NewPlan,
  newPlanRequest,
  type PlanLimits,
  planRoot,
  resumedRequest,
} from '../guard/plan/plan-request.ts'
import { preparePlan } from '../guard/plan/prepare-plan.ts'
import { runPlan as runPrepared } from '../guard/plan/run-plan.ts'
import { ownHookProgram } from '../guard-install/hook-program.ts'
import { callback, checkOptions, optionFields } from '../io/check-options.ts'
import { findRun } from '../store/find-run.ts'

/** What `gantry plan run` takes. `agent` is needed unless a run is resumed. */
export type PlanRunRequest = Omit<NewPlan, 'cwd' | 'root'> & {
  /** The project is the one around this directory, and relative paths start here. Default: the working directory. */
  readonly cwd?: string
}

/** The last event of a run: its state, why, and the tasks that are open. */
export type PlanRunResult = Extract<PlanEvent, { readonly kind: 'plan_ended' }>

const limitFields = {
  maxAttempts: z.int().positive().optional(),
  maxIterations: z.int().positive().optional(),
  maxCostUsd: z.number().positive().optional(),
  timeoutMs: z.int().positive().optional(),
}
const resumedSchema = z.strictObject({
  ...limitFields,
  cwd: z.string().optional(),
  configFile: z.string().optional(),
})
const requestSchema = z.strictObject({
  ...resumedSchema.shape,
  plan: z.string().optional(),
  agent: z.string().optional(),
  model: z.string().optional(),
  commit: z.boolean().optional(),
})
const optionsSchema = z.strictObject({
  /** Continues this run as it was started. Of the request only the limits may be given then. */
  resume: z.string().optional(),
  /** Default: that of this process. */
  env: optionFields.env,
  signal: optionFields.signal,
  onEvent: callback<(event: PlanEvent) => void>(),
})

export type PlanRunOptions = Readonly<z.output<typeof optionsSchema>>

/** Lets a guarded agent do the open tasks of a plan, one by one, each verified before it counts. */
export async function runPlan(request: PlanRunRequest, options: PlanRunOptions = {}): Promise<PlanRunResult> {
  checkOptions('runPlan options', optionsSchema, options)
  checkOptions('runPlan request', options.resume === undefined ? requestSchema : resumedSchema, request)
  const { env = process.env, signal = new AbortController().signal, onEvent = () => {} } = options
  const { cwd = process.cwd(), configFile } = request
  const store = openProjectStore({ cwd: planRoot(cwd), env, ...(configFile !== undefined && { configFile }) })
  const resume = options.resume === undefined ? null : findRun(store, options.resume, { kind: 'plan' })
  const wanted =
    resume === null ? newPlanRequest({ ...request, cwd }) : resumedRequest(store, resume, limitsOf(request))
  const program = ownHookProgram()
  const prepared = await preparePlan(wanted, { env, program, signal })
  let ended: PlanRunResult | null = null
  await runPrepared(prepared, {
    store,
    signal,
    cwd,
    argv: [],
    onEvent: (event) => {
      if (event.kind === 'plan_ended') ended = event
      onEvent(event)
    },
    ...(resume !== null && { resume }),
  })
  if (ended === null) throw new Error('the plan ended without its last event')
  return ended
}

function limitsOf({ cwd: _, configFile: __, ...limits }: PlanRunRequest): PlanLimits {
  return limits
}
