import { diagnose } from '../analysis/diagnose.ts'
import { isFile } from '../io/path-kind.ts'
import { evaluationFiles } from '../plugin/pipeline/evaluation-files.ts'
import { finishedEvaluation } from '../plugin/report/finished-evaluation.ts'
import type { FinishedRun, Reporter } from '../report/contract.ts'
import { finishedRun } from '../report/finished-run.ts'
import { frozenRequest } from '../scenario/request.ts'
import type { Store } from '../store/contract.ts'
import { openRun } from '../store/open-run.ts'
import { rowOf } from '../store/run-row.ts'

type ForPeople = (value: unknown) => unknown

/** Reports a stored run of any kind as when it ended. `runId` is a complete id. `forPeople` hides what must not be shared. */
export async function reportRun(
  store: Store,
  runId: string,
  reporter: Reporter,
  forPeople: ForPeople,
): Promise<void> {
  const run = await readRun(store, runId, forPeople)
  reporter.runStarted?.(run)
  for await (const record of run.records()) reporter.trialEnded?.(record)
  await reporter.runEnded?.(run)
}

/** A stored run of any kind as reporters get it. */
export async function readRun(store: Store, runId: string, forPeople: ForPeople): Promise<FinishedRun> {
  const run = openRun(store, runId)
  const manifest = run.manifest()
  if (manifest.kind === 'plugin' && isFile(evaluationFiles(run.dir).evaluation))
    return (await finishedEvaluation(store, runId, forPeople)).finished
  const isPlanned = manifest.kind === 'scenario' && run.plan() !== null
  const request = isPlanned ? frozenRequest(store, runId) : null
  return finishedRun(run, {
    row: rowOf(store, run.dir, manifest),
    forPeople,
    diagnose,
    ...(request !== null && { judging: request, concurrency: request.concurrency }),
  })
}
