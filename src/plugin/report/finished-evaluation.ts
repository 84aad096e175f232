import { GantryError } from '../../core/error.ts'
import { createRedaction } from '../../core/redaction.ts'
import type { FinishedRun } from '../../report/contract.ts'
import { finishedRun } from '../../report/finished-run.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { readTrialRows, rowOf } from '../../store/run-row.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { readEvaluationHead } from '../pipeline/evaluation-document.ts'
import { evaluationFiles, readAnalysis, readScenarios } from '../pipeline/evaluation-files.ts'
import { storedConfig } from '../pipeline/stored-request.ts'
import { evaluationView } from './evaluation-view.ts'

export interface FinishedEvaluation {
  readonly finished: FinishedRun
  readonly config: PluginConfig
}

/** A stored evaluation as reporters take it. Throws GantryError NOT_FOUND when it has no verdicts yet. */
export async function finishedEvaluation(
  store: Store,
  runId: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FinishedEvaluation> {
  const run = openRun(store, runId)
  const files = evaluationFiles(run.dir)
  const head = readEvaluationHead(files)
  if (head === null)
    throw new GantryError('NOT_FOUND', `run ${runId} has no evaluation yet`, {
      hint: `Finish it first: gantry plugin resume ${runId}`,
    })
  const manifest = run.manifest()
  const finished = await finishedRun(run, {
    row: rowOf(store, run.dir, manifest, () => readTrialRows(runId, run.dir)),
    // Secrets were hidden when the run was stored; what points to a person is hidden in what is passed on.
    forPeople: createRedaction([], env).forPeople,
    diagnose: () => [],
  })
  return {
    finished: {
      ...finished,
      ...evaluationView(finished.summary, {
        runId,
        summary: head.summary,
        analysis: readAnalysis(files),
        scenarios: readScenarios(files),
      }),
    },
    config: storedConfig(files),
  }
}
