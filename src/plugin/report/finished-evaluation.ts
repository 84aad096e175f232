import { GantryError } from '../../core/error.ts'
import type { FinishedRun } from '../../report/contract.ts'
import { finishedRun } from '../../report/finished-run.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { rowOf } from '../../store/run-row.ts'
import {
  evaluationFiles,
  readAnalysis,
  readEvaluationHead,
  readScenarios,
} from '../pipeline/evaluation-files.ts'
import { storedConfig } from '../pipeline/stored-request.ts'
import { evaluationView } from './evaluation-view.ts'

/** A stored evaluation for reporters. Throws GantryError NOT_FOUND when it has no verdicts yet. */
export async function finishedEvaluation(
  store: Store,
  runId: string,
  forPeople: (value: unknown) => unknown,
) {
  const run = openRun(store, runId)
  const files = evaluationFiles(run.dir)
  const head = readEvaluationHead(files)
  if (head === null)
    throw new GantryError('NOT_FOUND', `run ${runId} has no evaluation yet`, {
      hint: `Finish it first: gantry plugin resume ${runId}`,
    })
  const manifest = run.manifest()
  const stored = await finishedRun(run, {
    row: rowOf(store, run.dir, manifest),
    forPeople,
    diagnose: () => [],
  })
  const facts = {
    runId,
    summary: head.summary,
    analysis: readAnalysis(files),
    scenarios: readScenarios(files),
    notRunWhy: stored.notRunWhy ?? [],
  }
  const finished: FinishedRun = { ...stored, ...evaluationView(stored.summary, facts) }
  return { finished, config: storedConfig(files) }
}
