import { resolve } from 'node:path'
import { createColors } from 'picocolors'
import { openProjectStore } from '../../config/open-project-store.ts'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import type { PlanEvent } from '../../guard/plan/plan-event.ts'
import { newPlanRequest, type PlanRequest, planRoot, resumedRequest } from '../../guard/plan/plan-request.ts'
import { preparePlan } from '../../guard/plan/prepare-plan.ts'
import { planExitCodes, runPlan } from '../../guard/plan/run-plan.ts'
import { ownHookProgram } from '../../guard-install/hook-program.ts'
import { shortenEnd } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { Store } from '../../store/contract.ts'
import { findRun } from '../../store/find-run.ts'
import type { CliContext } from '../context.ts'
import type { TaskFlags } from '../task/task-flags.ts'

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

const maxColumns = 160

/** One line per step, with its time. Text of agents and projects is made safe to print. */
function planEventPrinter({ stdout }: CliContext): (event: PlanEvent) => void {
  const { dim } = createColors(stdout.color)
  return (event) => {
    const at = new Date(event.ts * 1000).toTimeString().slice(0, 8)
    for (const line of linesOf(event, stdout.color)) stdout.write(`${dim(at)}  ${line}\n`)
  }
}

function linesOf(event: PlanEvent, color: boolean): readonly string[] {
  const { bold, dim, green, red, yellow } = createColors(color)
  const plain = (text: string): string => shortenEnd(plainLine(text), maxColumns)
  switch (event.kind) {
    case 'plan_started':
      return [
        `${bold(plain(event.plan))}: ${event.open} of ${counted(event.tasks, 'task')} open, with ${plain(event.agent)}${event.resumed ? ', resumed' : ''}`,
        `verified by  ${event.commands.length === 0 ? 'nothing yet' : plain(event.commands.join(', '))}`,
        `guard        ${event.guard.startsWith('UNGUARDED') ? yellow(plainLine(event.guard)) : plainLine(event.guard)}`,
        dim(`run          ${event.run_id}  ${event.run_dir}`),
      ]
    case 'iteration_started':
      return [
        `${bold(`iteration ${event.iteration}`)}: ${plain(event.task)} (attempt ${event.attempt} of ${event.max_attempts})`,
      ]
    case 'tool_used':
      return [
        dim(
          `  ${plain([event.tool, event.command ?? event.path].filter((word) => word !== undefined).join(' '))}`,
        ),
      ]
    case 'agent_ended': {
      const how = event.failure === null ? endingWords(event) : yellow(plain(event.failure))
      return [`  agent ${how} after ${formatDuration(event.duration_ms)}, ${formatCost(event.cost_usd)}`]
    }
    case 'plan_restored':
      return [
        ...event.boxes.map((title) => yellow(`  box restored: ${plain(title)}`)),
        ...event.missing.map((title) => yellow(`  task restored in the plan: ${plain(title)}`)),
      ]
    case 'verified': {
      const status = event.status === 'green' ? green('green') : red(event.status.replace('_', ' '))
      const why = event.why === null ? '' : `: ${plain(event.why)}`
      return [`  ${status} ${plain(event.command)} (${formatDuration(event.duration_ms)})${why}`]
    }
    case 'task_done': {
      const commit = event.commit === null ? '' : `, commit ${event.commit.slice(0, 12)}`
      return [green(`  done: ${plain(event.task)}${commit}`)]
    }
    case 'attempt_failed':
      return [red(`  not done: ${plain(event.reason)}`)]
    case 'iteration_lost':
      return [
        yellow(`  failed for infrastructure reasons, not counted as an attempt: ${plain(event.reason)}`),
      ]
    case 'note':
      return [event.level === 'warning' ? yellow(plainLine(event.message)) : dim(plainLine(event.message))]
    case 'plan_ended':
      return endLines(event, color)
  }
}

type Ended = PlanEvent & { readonly kind: 'plan_ended' }

function endLines(event: Ended, color: boolean): readonly string[] {
  const { bold, dim, green, red, yellow } = createColors(color)
  const paint = { done: green, failed: red, inconclusive: yellow, infra: yellow, interrupted: yellow }[
    event.state
  ]
  const unmetered = event.unmetered > 0 && event.cost_usd !== null ? `, ${event.unmetered} unmetered` : ''
  const cost =
    event.iterations === 0 && event.unmetered === 0 ? '' : `, ${formatCost(event.cost_usd)}${unmetered}`
  return [
    `${bold(paint(event.state))}: ${plainLine(event.reason)}`,
    `${event.done} of ${counted(event.tasks, 'task')} done, ${counted(event.iterations, 'iteration')}${cost}, ${formatDuration(event.duration_ms)}`,
    ...event.open.slice(0, 10).map((title) => `  open: ${shortenEnd(plainLine(title), maxColumns)}`),
    ...(event.open.length > 10 ? [`  and ${event.open.length - 10} more`] : []),
    ...(event.state !== 'done' && event.run_id !== null
      ? [dim(`Continue with: gantry plan run --resume ${event.run_id}`)]
      : []),
  ]
}

function endingWords({ ending, exit_code }: PlanEvent & { readonly kind: 'agent_ended' }): string {
  if (ending === 'exited')
    return exit_code === 0 || exit_code === null ? 'stopped' : `stopped with exit code ${exit_code}`
  return ending.replaceAll('_', ' ')
}
