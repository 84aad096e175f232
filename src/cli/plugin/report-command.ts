import { resolve } from 'node:path'
import { openProjectStore } from '../../config/open-project-store.ts'
import { GantryError } from '../../core/error.ts'
import { checkWritable } from '../../io/check-writable.ts'
import { latestRunOf, readEvaluationState } from '../../plugin/pipeline/read-evaluation-state.ts'
import { finishedEvaluation } from '../../plugin/report/finished-evaluation.ts'
import { parseOutput, writeDocument, writeDocumentFile } from '../../plugin/report/write-document.ts'
import { parseReporterSpec } from '../../report/index.ts'
import { openReporters } from '../../report/open-reporters.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import type { CliContext } from '../context.ts'
import { printError } from '../print-error.ts'

export interface PluginReportFlags {
  readonly runId?: string
  readonly plugin?: string
  readonly output?: string[]
  readonly reporter?: string[]
  readonly cli?: boolean
  readonly json?: boolean
}

/** Tells a stored evaluation as it was told when it ended. Succeeds when the reports are written, whatever they say. */
export async function reportCommand(
  run: string | undefined,
  flags: PluginReportFlags,
  context: CliContext,
): Promise<void> {
  const documents = [...(flags.output ?? []), ...(flags.json === true ? ['json'] : [])].map(parseOutput)
  const named = (flags.reporter ?? []).map(parseReporterSpec)
  const wantsPeople = flags.cli === true || (documents.length === 0 && named.length === 0)
  const specs = [...named, ...(wantsPeople ? [parseReporterSpec('console')] : [])]
  if ([...documents, ...specs].filter(({ path }) => path === null).length > 1)
    throw new GantryError('USAGE', 'two reports would mix on standard output', {
      hint: 'Send all but one to files: FORMAT:PATH',
    })
  for (const { path } of [...documents, ...specs])
    if (path !== null) checkWritable(resolve(context.cwd, path))
  const store = openProjectStore(context)
  const wanted = run ?? flags.runId
  const id =
    wanted === undefined && flags.plugin !== undefined
      ? await latestRunOf(store, flags.plugin)
      : findRun(store, wanted ?? 'latest', { kind: 'plugin' })
  refuseOtherPlugin(flags.plugin, readEvaluationState(openRun(store, id).dir)?.plugin_name, id)
  const { finished, config } = await finishedEvaluation(store, id, context.env)
  const options = { suiteName: config.output.junit_test_suite_name }
  for (const { format, path } of documents) {
    if (path === null) await writeDocument(format, finished, context.stdout, null, options)
    else {
      await writeDocumentFile(format, finished, resolve(context.cwd, path), options)
      if (!documents.some((other) => other.path === null)) context.stdout.write(`Wrote ${path}\n`)
    }
  }
  const { env, cwd, stdout } = context
  const reporters = await openReporters(specs, { env, cwd, stdout, plain: true })
  reporters.runStarted(finished)
  await reporters.runEnded(finished)
  for (const { error } of reporters.problems()) context.setExitCode(printError(error, context))
}

function refuseOtherPlugin(wanted: string | undefined, found: string | undefined, id: string): void {
  if (wanted === undefined || found === undefined || wanted === found) return
  throw new GantryError('USAGE', `run ${id} is of the plugin '${found}', not of '${wanted}'`, {
    hint: 'Leave one of the two out.',
  })
}
