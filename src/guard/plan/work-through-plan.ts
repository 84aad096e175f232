import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../../core/counted.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { formatCost } from '../../report/quantity.ts'
import { lastEvents } from '../status/guard-status.ts'
import { type Iteration, iterate } from './iterate.ts'
import { type PlanProgress, withIteration } from './iteration-record.ts'
import type { PlanWork } from './open-plan-work.ts'
import type { PlanState } from './plan-event.ts'
import { requirePlanFile } from './plan-file.ts'
import { type KeyedTask, planTasks } from './plan-tasks.ts'
import { closeTask, iterationId, type RecoveredPlan } from './recover-plan.ts'

export interface PlanEnd {
  readonly state: PlanState
  readonly reason: string
  readonly progress: PlanProgress
}

/** The run stops after this many lost iterations in a row. */
const lostMax = 3

/** Works on the tasks in the order of the plan, until all are done or a limit is reached. */
export async function workThroughPlan(work: PlanWork, taken: RecoveredPlan): Promise<PlanEnd> {
  const { baselines, failures } = taken
  const { redaction, request } = work.prepared
  const guardWatch = watchGuard(work)
  let { progress, last } = taken
  let lost = ''
  let warnedUnmetered = request.maxCostUsd === undefined
  for (;;) {
    const planText = requirePlanFile(work.file)
    const task = planTasks(planText).find(({ done }) => !done)
    if (work.signal.aborted) return { state: 'interrupted', reason: 'it was interrupted', progress }
    if (task === undefined) return { state: 'done', reason: 'every task is done and verified', progress }
    const name = redaction.text(task.key)
    const stop = reasonToStop(work, task, progress, failures.get(name)?.reason ?? '', lost)
    if (stop !== null) return { ...stop, progress }
    last += 1
    const baseline = baselines.get(name) ?? (await work.shadow.take())
    baselines.set(name, baseline)
    const failed = progress.attempts.get(name) ?? 0
    const iteration = await iterate(work, {
      id: iterationId(last),
      number: last,
      task,
      planText,
      attempt: failed + 1,
      failure: failures.get(name) ?? null,
      baseline,
      ...(request.maxCostUsd !== undefined && { maxCostUsd: request.maxCostUsd - progress.spentUsd }),
    })
    const { record } = iteration
    work.run.finishTrial(record)
    progress = withIteration(progress, record)
    await settle(work, task, iteration, last)
    guardWatch()
    if (!warnedUnmetered && record.costUsd === null) {
      warnedUnmetered = true
      const message = `${request.agent} does not report its cost, so --max-cost-usd counts only known costs.`
      work.step({ kind: 'note', level: 'warning', message })
    }
    switch (record.verdict) {
      case 'pass':
        baselines.delete(name)
        failures.delete(name)
        break
      case 'fail':
        if (iteration.failure !== null) failures.set(name, iteration.failure)
        break
      default:
        lost = record.reason
        await pause(work, record, progress.lostInRow)
    }
  }
}

async function settle(work: PlanWork, task: KeyedTask, iteration: Iteration, number: number): Promise<void> {
  const { record, tickedBy, failure } = iteration
  switch (record.verdict) {
    case 'pass': {
      const commit = await closeTask(work, record.id, task.key)
      work.step({ kind: 'task_done', iteration: number, task: task.title, ticked_by: tickedBy, commit })
      return
    }
    case 'fail':
      work.step({
        kind: 'attempt_failed',
        iteration: number,
        task: task.title,
        attempt: record.attempt,
        max_attempts: work.prepared.request.maxAttempts,
        reason: failure?.reason ?? record.reason,
      })
      return
    default:
      work.step({ kind: 'iteration_lost', iteration: number, reason: record.reason })
  }
}

function reasonToStop(
  { prepared: { request, redaction } }: PlanWork,
  task: KeyedTask,
  { attempts, iterations, spentUsd, lostInRow }: PlanProgress,
  failure: string,
  lost: string,
): Omit<PlanEnd, 'progress'> | null {
  const { maxAttempts, maxIterations, maxCostUsd } = request
  const failed = attempts.get(redaction.text(task.key)) ?? 0
  if (failed >= maxAttempts) {
    const reason = `given up after ${counted(failed, 'attempt')} at '${task.title}': ${failure}`
    return { state: 'failed', reason }
  }
  if (lostInRow >= lostMax)
    return {
      state: 'infra',
      reason: `${counted(lostInRow, 'iteration')} in a row failed for infrastructure reasons: ${lost}`,
    }
  if (maxIterations !== undefined && maxIterations > 0 && iterations >= maxIterations) {
    const reason = `the limit of ${counted(maxIterations, 'iteration')} (--max-iterations) is reached`
    return { state: 'inconclusive', reason }
  }
  if (maxCostUsd !== undefined && spentUsd >= maxCostUsd) {
    const reason = `the budget of ${formatCost(maxCostUsd)} (--max-cost-usd) is spent`
    return { state: 'inconclusive', reason }
  }
  return null
}

/** Waits after a rate limit. Every other failure is retried at once. */
async function pause({ signal }: PlanWork, { failure }: TrialRecord, lostInRow: number): Promise<void> {
  if (lostInRow >= lostMax || (failure !== 'rate_limit' && failure !== 'overloaded')) return
  await sleep(5_000 * 2 ** (lostInRow - 1), undefined, { signal }).catch(() => {})
}

/**
 * Warns once, after an iteration, if the agent's hooks were never called. Then the agent was not guarded, even if the hooks are installed.
 */
function watchGuard({ prepared, step }: PlanWork): () => void {
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
      message: `The guard received no events from ${request.agent}: its hooks did not run. Gantry's own verification still decides. See gantry guard status --agent ${guard.agent}.`,
    })
  }
}
