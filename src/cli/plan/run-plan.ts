import { resolve } from 'node:path'
import { openProjectStore } from '../../config/open-project-store.ts'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { newPlanRequest, type PlanRequest, planRoot, resumedRequest } from '../../guard/plan/plan-request.ts'
import { preparePlan } from '../../guard/plan/prepare-plan.ts'
import { planExitCodes, runPlan } from '../../guard/plan/run-plan.ts'
import { ownHookProgram } from '../../guard-install/hook-program.ts'
import type { Store } from '../../store/contract.ts'
import { findRun } from '../../store/find-run.ts'
import type { CliContext } from '../context.ts'
import type { TaskFlags } from '../task/task-flags.ts'
import { planEventPrinter } from './plan-event-printer.ts'

export async function runPlanCommand(plan: string | undefined, flags: PlanFlags, context: CliContext) {
  const { env, signal, stdout } = context
  const isJson = flags.json === true
  const store = openProjectStore({
    cwd: planRoot(context.cwd, flags.root),
    env,
    ...(flags.config !== undefined && { configFile: resolve(context.cwd, flags.config) }),
  })
  const resume = flags.resume === undefined ? null : findRun(store, flags.resume, { kind: 'plan' })
  const request = planRequest(plan, flags, context, resume === null ? null : { store, resume })
  const program = ownHookProgram()
  const prepared = await preparePlan(request, { env, program, signal })
  if (flags.dryRun === true) {
    const { printDryRun } = await import('./print-dry-run.ts')
    await printDryRun(prepared, store, { json: isJson }, context)
    return
  }
  const state = await runPlan(prepared, {
    store,
    signal,
    cwd: context.cwd,
    argv: ['gantry', ...process.argv.slice(2)],
    onEvent: isJson ? (event) => stdout.write(`${JSON.stringify(event)}\n`) : planEventPrinter(context),
    ...(resume !== null && { resume }),
  })
  context.setExitCode(planExitCodes[state])
}

/** The request, from the command line or over that of an earlier run. `resume` is a complete id. */
function planRequest(
  plan: string | undefined,
  flags: PlanFlags,
  context: CliContext,
  earlier: { readonly store: Store; readonly resume: string } | null,
): PlanRequest {
  const { maxAttempts, maxIterations, maxCostUsd, timeout: timeoutMs } = flags
  const limits = defined({ maxAttempts, maxIterations, maxCostUsd, timeoutMs })
  if (earlier !== null) {
    refuseBesideResume(plan, flags)
    return resumedRequest(earlier.store, earlier.resume, limits)
  }
  const { agent, model, commit, root, config: configFile } = flags
  return newPlanRequest({
    cwd: context.cwd,
    ...limits,
    ...defined({ agent, model, commit, root, configFile, plan }),
  })
}

/** A run continues with its original request; a flag that would be ignored is rejected. */
function refuseBesideResume(plan: string | undefined, flags: PlanFlags): void {
  const given: readonly (readonly [string, unknown])[] = [
    ['a plan', plan],
    ['--agent', flags.agent],
    ['--model', flags.model],
    ['--commit', flags.commit],
  ]
  const clash = given.find(([, value]) => value !== undefined)
  if (clash === undefined) return
  throw new GantryError('USAGE', `--resume continues a run as it was started: ${clash[0]} would change it`, {
    hint: 'Remove it.',
  })
}

/** Parsed flags of `gantry plan run`. Absent: the default or the resumed run decides. */
export interface PlanFlags extends Omit<TaskFlags, 'agentModel' | 'sandbox' | 'verbose'> {
  readonly maxIterations?: number
  readonly maxAttempts?: number
  readonly commit?: boolean
  readonly resume?: string
}
