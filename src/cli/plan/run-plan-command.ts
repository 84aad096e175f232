import { resolve } from 'node:path'
import { openProjectStore } from '../../config/open-project-store.ts'
import { preparePlan } from '../../guard/plan/prepare-plan.ts'
import { planExitCodes, runPlan } from '../../guard/plan/run-plan.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { findRun } from '../../store/find-run.ts'
import type { CliContext } from '../context.ts'
import type { PlanFlags } from './plan-flags.ts'
import { planRequest, projectRoot } from './plan-request.ts'
import { planPrinter } from './print-plan-event.ts'

/** `gantry plan run`, once the flags are known. */
export async function runPlanCommand(
  plan: string | undefined,
  flags: PlanFlags,
  context: CliContext,
): Promise<void> {
  const { env, signal, stdout } = context
  const isJson = flags.json === true
  const store = openProjectStore({
    cwd: projectRoot(context, flags),
    env,
    ...(flags.config !== undefined && { configFile: resolve(context.cwd, flags.config) }),
  })
  const resume = flags.resume === undefined ? null : findRun(store, flags.resume, { kind: 'plan' })
  const request = planRequest(plan, flags, context, resume === null ? null : { store, resume })
  const program = { node: process.execPath, hookBin: hookBinPath() }
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
    onEvent: isJson ? (event) => stdout.write(`${JSON.stringify(event)}\n`) : planPrinter(context),
    ...(resume !== null && { resume }),
  })
  context.setExitCode(planExitCodes[state])
}
