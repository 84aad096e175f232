import type { TrialRecord } from '../../core/trial.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { printable } from '../../guard-engine/printable.ts'
import { planFactsIn } from '../../guard-engine/project/read-project-facts.ts'
import { showTickedPlan } from '../../guard-engine/views/write-views.ts'
import { commitAll } from '../../io/commit-all.ts'
import { namesIn } from '../../io/directory.ts'
import type { LiveRun } from '../../store/contract.ts'
import { runFile } from '../../store/run-paths.ts'
import { iterationRecord, noProgress, type PlanProgress, withIteration } from './iteration-record.ts'
import { type Failure, failureFrom } from './judge-iteration.ts'
import type { IterationStart, PlanWork } from './open-plan-work.ts'
import { readPlanFile, requirePlanFile, writePlanFile } from './plan-file.ts'
import { planTasks, reconcilePlan, setBoxes } from './plan-tasks.ts'

/** The state that earlier processes of the run left. */
export interface RecoveredPlan {
  readonly progress: PlanProgress
  /** By task name in the records: the tree when the task was started, and why its last attempt was not accepted. */
  readonly baselines: Map<string, string>
  readonly failures: Map<string, Failure>
  readonly last: number
}

export function iterationId(number: number): string {
  return `iteration-${String(number).padStart(3, '0')}`
}

/** Finishes interrupted steps: restores boxes the agent changed and closes verified tasks that were not closed. */
export async function recoverPlan(work: PlanWork): Promise<RecoveredPlan> {
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
  // The cause of earlier lost iterations may be fixed by now.
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

/** The work of its agent is unknown, so it does not count as an attempt and its boxes are reset. */
function cutOff(work: PlanWork, id: string, { task, line, plan }: IterationStart): TrialRecord {
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

const maxMessageLength = 200

/** Ticks the box of a verified task and commits if requested. If the process dies in between, the next resume does the rest. */
export async function closeTask(work: PlanWork, id: string, key: string): Promise<string | null> {
  const { file, run, prepared, checkEnv, leaveOut } = work
  const text = requirePlanFile(file)
  const task = planTasks(text).find((one) => one.key === key)
  if (task !== undefined && !task.done) writePlanFile(file, setBoxes(text, new Map([[task.line, true]])))
  const { root, commit } = prepared.request
  const made = commit
    ? await commitAll({ root, leaveOut, env: checkEnv }, printable(task?.title ?? key, maxMessageLength))
    : null
  showTickedPlan({
    guardHome: guardHome(prepared.host),
    root,
    settings: prepared.settings,
    plan: planFactsIn(requirePlanFile(file)),
    iteration: Number(/\d+$/.exec(id)?.[0] ?? 0),
  })
  run.checkpoint(id, 'closed', { task: key, commit: made })
  return made
}
