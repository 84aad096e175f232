import { join } from 'node:path'
import { formatPosition, GantryError } from '../../core/error.ts'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { definedVariables } from '../../core/expand.ts'
import { guardHome, ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { sealedNotice } from '../../guard-engine/settings/settings-in-force.ts'
import { viewsBelow } from '../../guard-engine/views/state-directory.ts'
import { describeGuard } from '../../guard-install/guard-for-agent.ts'
import { removeLeftBehind } from '../../guard-install/temporary-guard.ts'
import { systemClock } from '../../io/clock.ts'
import { uncommitted } from '../../io/commit-all.ts'
import { gitInfo } from '../../io/git.ts'
import { acquireLock, type Lock, lockHolder } from '../../io/lock.ts'
import { makePrivateDirectories } from '../../io/private-files.ts'
import type { LiveRun, RunStatus, Store } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { resumeRun } from '../../store/resume-run.ts'
import { costSoFar, noProgress, type PlanProgress, withIteration } from './iteration-record.ts'
import { openPlanWork } from './open-plan-work.ts'
import type { PlanEvent, PlanState, PlanStep } from './plan-event.ts'
import { readPlanFile, requirePlanFile } from './plan-file.ts'
import { planTasks } from './plan-tasks.ts'
import type { PreparedPlan } from './prepare-plan.ts'
import { recoverPlan } from './recover-plan.ts'
import { type PlanEnd, workThroughPlan } from './work-through-plan.ts'

export interface PlanRunContext {
  readonly store: Store
  readonly signal: AbortSignal
  /** Command line for the manifest. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly onEvent: (event: PlanEvent) => void
  /** Full id of the run to resume. */
  readonly resume?: string
}

export const planExitCodes: Readonly<Record<PlanState, ExitCode>> = {
  done: exitCode.pass,
  failed: exitCode.failed,
  inconclusive: exitCode.inconclusive,
  infra: exitCode.infra,
  interrupted: exitCode.interrupted,
}

/** Runs a plan. On return, only the agent's work remains in the project. */
export async function runPlan(prepared: PreparedPlan, context: PlanRunContext): Promise<PlanState> {
  const { request, host } = prepared
  const { store, resume } = context
  const startedMs = performance.now()
  const lock = lockProject(guardHome(host), request.root)
  let run: LiveRun | null = null
  const step = stepper(prepared, context, () => run)
  try {
    for (const message of await removeLeftBehind(store, request.root))
      step({ kind: 'note', level: 'info', message })
    if (resume === undefined && request.commit) await refuseDirty(prepared)
    if (resume === undefined && prepared.tasks.every(({ done }) => done)) {
      const end: PlanEnd = { state: 'done', reason: 'every task is done already', progress: noProgress }
      step(ended(prepared, end, null, startedMs))
      return end.state
    }
    run = await openRun(prepared, context)
    const end = await workOn(prepared, context, run, step)
    step(ended(prepared, end, run, startedMs))
    const live = run
    run = null
    await live.end({ status: statuses[end.state], change: { details: { reason: end.reason } } })
    return end.state
  } finally {
    run?.release()
    lock.release()
  }
}

const statuses: Readonly<Record<PlanState, Exclude<RunStatus, 'running'>>> = {
  done: 'pass',
  failed: 'fail',
  inconclusive: 'inconclusive',
  infra: 'infra',
  interrupted: 'interrupted',
}

/** A machine error ends the run as `infra` and keeps the finished work. A bug is rethrown. */
async function workOn(
  prepared: PreparedPlan,
  context: PlanRunContext,
  run: LiveRun,
  step: (step: PlanStep) => void,
): Promise<PlanEnd> {
  const { request } = prepared
  try {
    await using open = await openPlanWork(prepared, run, { step, signal: context.signal })
    const { work } = open
    const taken = await recoverPlan(work)
    const tasks = planTasks(requirePlanFile(work.file))
    step({
      kind: 'plan_started',
      run_id: run.id,
      run_dir: run.dir,
      root: request.root,
      plan: request.plan,
      agent: request.agent,
      model: request.model,
      resumed: context.resume !== undefined,
      tasks: tasks.length,
      open: tasks.filter(({ done }) => !done).length,
      commands: prepared.commands.map(({ command }) => command),
      guard: describeGuard(prepared.guard, request.agent),
    })
    const warn = (message: string): void => step({ kind: 'note', level: 'warning', message })
    const notice = sealedNotice(prepared)
    if (notice !== null) warn(notice)
    if (prepared.commands.length === 0)
      warn('No verification command is declared, so no task can count as done.')
    const end = await workThroughPlan(work, taken)
    if (end.state === 'done') work.notes.remove()
    return end
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    const progress = await progressOf(run)
    if (context.signal.aborted) return { state: 'interrupted', reason: 'it was interrupted', progress }
    return { state: 'infra', reason: whatBroke(error), progress }
  }
}

function whatBroke({ message, hint, at }: GantryError): string {
  const where = at === undefined ? '' : `${formatPosition(at)}: `
  return `${where}${message}${hint === undefined ? '' : `. ${hint}`}`
}

async function progressOf(run: LiveRun): Promise<PlanProgress> {
  let progress = noProgress
  for await (const record of run.trials()) progress = withIteration(progress, record)
  return progress
}

async function openRun(
  prepared: PreparedPlan,
  { store, resume, argv, cwd }: PlanRunContext,
): Promise<LiveRun> {
  const { request, redaction, agent, project } = prepared
  if (resume !== undefined) return resumeRun(store, resume)
  const git = await gitInfo(request.root)
  const run = createRun(store, {
    kind: 'plan',
    title: redaction.text(`${request.plan} with ${request.agent}`),
    argv: argv.map(redaction.text),
    cwd,
    ...(git !== null && { dirty: git.dirty, ...(git.commit !== null && { commit_sha: git.commit }) }),
    agents: { [agent.name]: agent.probe.version ?? 'unknown' },
  })
  run.freeze(request.plan, redaction.text(requirePlanFile({ root: request.root, path: request.plan })))
  if (project.source !== null) run.freeze('gantry.yaml', redaction.text(project.source.text))
  const plan = { request, declared: prepared.declared, trials: [] }
  run.writePlan(plan)
  return run
}

async function refuseDirty({ request: { root }, host, settings }: PreparedPlan): Promise<void> {
  if ((await gitInfo(root)) === null) {
    throw new GantryError('USAGE', `--commit needs a git repository, and ${root} is not one`, {
      hint: 'Omit --commit, or run git init.',
    })
  }
  const env = definedVariables(host)
  const changed = await uncommitted({ root, env, leaveOut: viewsBelow(root, settings.state.dir) })
  if (changed.length === 0) return
  const shown = changed.slice(0, 5).join(', ')
  throw new GantryError(
    'USAGE',
    `--commit needs a clean tree, but these files have uncommitted changes: ${shown}${changed.length > 5 ? ', …' : ''}`,
    { hint: 'Commit or stash them first: the commit of a task must contain only that task.' },
  )
}

function stepper(
  { redaction }: PreparedPlan,
  { onEvent }: PlanRunContext,
  run: () => LiveRun | null,
): (step: PlanStep) => void {
  return (step) => {
    const event = redaction.value({ ts: systemClock.now().getTime() / 1000, ...step }) as PlanEvent
    // Token usage is in the events of the iteration.
    if (step.kind !== 'tool_used') run()?.appendEvent(event)
    onEvent(event)
  }
}

function ended(
  prepared: PreparedPlan,
  { state, reason, progress }: PlanEnd,
  run: LiveRun | null,
  startedMs: number,
): PlanStep {
  const { root, plan } = prepared.request
  const text = readPlanFile({ root, path: plan })
  const tasks = text === null ? prepared.tasks : planTasks(text)
  const open = tasks.filter(({ done }) => !done).map(({ title }) => title)
  return {
    kind: 'plan_ended',
    state,
    reason,
    exit_code: planExitCodes[state],
    run_id: run?.id ?? null,
    run_dir: run?.dir ?? null,
    tasks: tasks.length,
    done: tasks.length - open.length,
    open,
    iterations: progress.iterations,
    cost_usd: costSoFar(progress),
    unmetered: progress.unmetered,
    duration_ms: Math.round(performance.now() - startedMs),
  }
}

/** Allows only one plan run at a time in a working tree. */
function lockProject(guardHome: string, root: string): Lock {
  const { directory } = ledgerPlace(guardHome, root, '')
  makePrivateDirectories(directory)
  const path = join(directory, 'plan-run.lock')
  const lock = acquireLock(path, { label: 'gantry plan run' })
  if (lock !== null) return lock
  const holder = lockHolder(path)
  throw new GantryError(
    'LOCKED',
    `another plan run is active in ${root}${holder === null ? '' : ` (process ${holder.pid})`}`,
    { hint: 'Wait until it ends, or stop that process.' },
  )
}
