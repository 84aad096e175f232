import { relative, resolve, sep } from 'node:path'
import { openProjectStore } from '../../config/open-project-store.ts'
import { GantryError } from '../../core/error.ts'
import { type PlanRequest, planRequestSchema, resumedRequest } from '../../guard/plan/plan-request.ts'
import { preparePlan } from '../../guard/plan/prepare-plan.ts'
import { planExitCodes, runPlan } from '../../guard/plan/run-plan.ts'
import { findRoot } from '../../guard-engine/ledger/ledger-place.ts'
import { planSource } from '../../guard-engine/project/declaring-files.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { Store } from '../../store/contract.ts'
import { findRun } from '../../store/find-run.ts'
import type { CliContext } from '../context.ts'
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

/** What is asked, by the command line alone or over what an earlier run was asked. `resume` is a whole id. */
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
  if (flags.agent === undefined) {
    throw new GantryError('USAGE', 'no agent was named', {
      hint: 'Name one with --agent: of gantry.yaml, a driver such as claude-code or builtin, or scripted:PATH.',
    })
  }
  const root = projectRoot(context, flags)
  const { agent, model, commit } = flags
  return planRequestSchema.parse({
    ...limits,
    ...defined({ model, commit }),
    ...(flags.config !== undefined && { configFile: resolve(context.cwd, flags.config) }),
    root,
    agent,
    plan: plan === undefined ? planSource : planBelow(root, resolve(context.cwd, plan)),
  })
}

function projectRoot({ cwd }: CliContext, { root = '.' }: Pick<PlanFlags, 'root'>): string {
  const directory = resolve(cwd, root)
  if (isDirectory(directory)) return findRoot(directory)
  throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
    hint: 'Name the project with --root DIR.',
  })
}

function planBelow(root: string, path: string): string {
  const below = relative(root, realPath(path))
  if (below !== '' && !below.startsWith('..') && !below.startsWith(sep)) return below.split(sep).join('/')
  throw new GantryError('USAGE', `the plan ${path} does not lie in the project ${root}`, {
    hint: 'Name the project it lies in with --root DIR.',
  })
}

/** A run goes on as it was begun; a flag that would be silently ignored is refused. */
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
    hint: 'Leave it out.',
  })
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>
}

/** Flags of `gantry plan run`, as commander hands them over. Absent means: the default or the resumed run decides. */
export interface PlanFlags {
  readonly agent?: string
  readonly model?: string
  readonly maxIterations?: number
  readonly maxAttempts?: number
  readonly maxCostUsd?: number
  readonly timeout?: number
  readonly commit?: boolean
  readonly dryRun?: boolean
  readonly resume?: string
  readonly json?: boolean
  readonly config?: string
  readonly root?: string
}
