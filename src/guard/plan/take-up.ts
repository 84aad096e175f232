import type { TrialRecord } from '../../core/trial.ts'
import { namesIn } from '../../io/directory.ts'
import type { LiveRun } from '../../store/contract.ts'
import { runFile } from '../../store/run-paths.ts'
import { closeTask } from './close-task.ts'
import { type Failure, failureFrom } from './failure.ts'
import { iterationRecord } from './iteration-record.ts'
import { readPlanFile, writePlanFile } from './plan-file.ts'
import { noProgress, type Progress, withIteration } from './plan-progress.ts'
import type { PlanWork } from './plan-work.ts'
import type { Begun } from './private-notes.ts'
import { reconcilePlan } from './reconcile-plan.ts'

/** What earlier processes of the run left to go on from. */
export interface TakenUp {
  readonly progress: Progress
  /** By the name of the task in the records: the tree when it was begun, and why its last attempt was not accepted. */
  readonly baselines: Map<string, string>
  readonly failures: Map<string, Failure>
  /** Number of the last iteration. */
  readonly last: number
}

export function iterationId(number: number): string {
  return `iteration-${String(number).padStart(3, '0')}`
}

/** Finishes what was cut off: boxes an agent left behind are put back, verified tasks that were not closed are closed. */
export async function takeUp(work: PlanWork): Promise<TakenUp> {
  const { run, notes } = work
  const baselines = new Map<string, string>()
  const failures = new Map<string, Failure>()
  const records = new Map<string, TrialRecord>()
  for await (const record of run.trials()) records.set(record.id, record)
  let progress = noProgress
  let last = 0
  for (const [number, id] of iterationsOf(run)) {
    last = number
    const begun = notes.begunOf(id)
    const record = records.get(id) ?? (begun === null ? undefined : cutOff(work, id, begun))
    if (record === undefined) continue
    const { case: name, verdict } = record
    progress = withIteration(progress, record)
    if (begun !== null && !baselines.has(name)) baselines.set(name, begun.baseline)
    const failure = failureFrom(run.checkpointOf(id, 'failure'))
    if (failure !== null) failures.set(name, failure)
    if (verdict !== 'pass') continue
    if (run.checkpointOf(id, 'closed') === undefined) await closeTask(work, id, begun?.task ?? name)
    baselines.delete(name)
    failures.delete(name)
  }
  // Whatever broke may be mended by now.
  return { progress: { ...progress, lostInRow: 0 }, baselines, failures, last }
}

function iterationsOf({ dir }: LiveRun): readonly (readonly [number, string])[] {
  return namesIn(runFile.trials(dir))
    .flatMap((name) => {
      const number = /^iteration-(\d+)$/.exec(name)?.[1]
      return number === undefined ? [] : [[Number(number), name] as const]
    })
    .sort(([one], [other]) => one - other)
}

/** Nobody knows what its agent did, so nothing is held against the task; its boxes are not believed. */
function cutOff(work: PlanWork, id: string, { task, line, plan }: Begun): TrialRecord {
  const now = readPlanFile(work.file)
  const { text } = reconcilePlan(plan, now, task)
  if (text !== now) writePlanFile(work.file, text)
  const record = iterationRecord(work, {
    id,
    task,
    line,
    attempt: 1,
    verdict: 'infra',
    reason: 'the process of the run was killed',
    runs: [],
    outcome: null,
    startedAt: new Date().toISOString(),
    durationMs: 0,
    warnings: [],
  })
  work.run.finishTrial(record)
  return record
}
