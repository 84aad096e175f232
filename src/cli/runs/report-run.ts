import { diagnose } from '../../analysis/diagnosis.ts'
import { openProjectStore } from '../../config/open-project-store.ts'
import { createRedaction } from '../../core/redaction.ts'
import { isFile } from '../../io/path-kind.ts'
import { evaluationFiles } from '../../plugin/pipeline/evaluation-files.ts'
import { finishedEvaluation } from '../../plugin/report/finished-evaluation.ts'
import type { FinishedRun } from '../../report/contract.ts'
import { finishedRun } from '../../report/finished-run.ts'
import { parseReporterSpec } from '../../report/index.ts'
import { openReporters } from '../../report/open-reporters.ts'
import { frozenRequest } from '../../scenario/earlier-runs.ts'
import type { Store } from '../../store/contract.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import { readTrialRows, rowOf } from '../../store/run-row.ts'
import type { CliContext } from '../context.ts'
import { printError } from '../print-error.ts'

export interface ReportFlags {
  readonly reporter?: string[]
  readonly json?: boolean
}

/** Tells a stored run as it was told when it ended. Succeeds when the reports are written, whatever they say of the run. */
export async function reportRun(wanted: string, flags: ReportFlags, context: CliContext): Promise<void> {
  const named = [...(flags.reporter ?? []), ...(flags.json === true ? ['json'] : [])]
  const specs = (named.length === 0 ? ['console'] : named).map(parseReporterSpec)
  const { env, cwd, stdout } = context
  // Nothing moves any more: plain lines, on a terminal too.
  const reporters = await openReporters(specs, { env, cwd, stdout, plain: true })
  const store = openProjectStore(context)
  const run = await readRun(store, findRun(store, wanted), context)
  reporters.runStarted(run)
  for await (const record of run.records()) reporters.trialEnded(record)
  await reporters.runEnded(run)
  const problems = reporters.problems()
  for (const { name, error } of problems) {
    context.stderr.write(`The reporter ${name} failed.\n`)
    context.setExitCode(printError(error, context))
  }
  if (specs.some(({ path }) => path === null)) return
  const failed = new Set(problems.map(({ name }) => name))
  for (const { name, path } of specs) if (!failed.has(`${name}:${path}`)) stdout.write(`Wrote ${path}\n`)
}

async function readRun(store: Store, runId: string, { env }: CliContext): Promise<FinishedRun> {
  const run = openRun(store, runId)
  const manifest = run.manifest()
  if (manifest.kind === 'plugin' && isFile(evaluationFiles(run.dir).evaluation))
    return (await finishedEvaluation(store, runId, env)).finished
  const isPlanned = manifest.kind === 'scenario' && run.plan() !== null
  const request = isPlanned ? frozenRequest(store, runId) : null
  // Secrets were hidden when the run was stored; what points to a person is hidden in what is passed on.
  const { forPeople } = createRedaction([], env)
  return finishedRun(run, {
    row: rowOf(store, run.dir, manifest, () => readTrialRows(runId, run.dir)),
    forPeople,
    diagnose: ({ metrics }) => diagnose(metrics),
    ...(request !== null && { judging: request, concurrency: request.concurrency }),
  })
}
