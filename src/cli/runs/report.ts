import { Command } from 'commander'
import { isFile } from '../../io/path-kind.ts'
import type { FinishedRun } from '../../report/contract.ts'
import type { Store } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'
import { repeated } from '../flag-values.ts'
import { printError } from '../print-error.ts'

export function reportCommand(context: CliContext): Command {
  return new Command('report')
    .description('Report a stored run again with any reporter.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .option('--reporter <name[:path]>', 'console, json, junit, tap, md, html or github; repeatable', repeated)
    .option('--json', 'print one JSON document and nothing else on standard output')
    .action(async (wanted: string, flags: ReportFlags) => {
      await reportRun(wanted, flags, context)
    })
}

interface ReportFlags {
  readonly reporter?: string[]
  readonly json?: boolean
}

/** Tells a stored run as it was told when it ended. Succeeds when the reports are written, whatever they say of the run. */
async function reportRun(wanted: string, flags: ReportFlags, context: CliContext): Promise<void> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { parseReporterSpec } = await import('../../report/index.ts')
  const { openReporters } = await import('../../report/open-reporters.ts')
  const { findRun } = await import('../../store/find-run.ts')
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
  const { diagnose } = await import('../../analysis/diagnosis.ts')
  const { createRedaction } = await import('../../core/redaction.ts')
  const { evaluationFiles } = await import('../../plugin/pipeline/evaluation-files.ts')
  const { finishedEvaluation } = await import('../../plugin/report/finished-evaluation.ts')
  const { finishedRun } = await import('../../report/finished-run.ts')
  const { frozenRequest } = await import('../../scenario/earlier-runs.ts')
  const { openRun } = await import('../../store/open-run.ts')
  const { readTrialRows, rowOf } = await import('../../store/run-row.ts')
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
