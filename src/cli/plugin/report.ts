import { resolve } from 'node:path'
import { Command } from 'commander'
import { projectRedaction } from '../../config/project-redaction.ts'
import { GantryError } from '../../core/error.ts'
import { parseReporterSpec } from '../../report/index.ts'
import type { CliContext } from '../context.ts'
import { repeated } from '../flag-values.ts'

interface PluginReportFlags {
  readonly runId?: string
  readonly plugin?: string
  readonly output?: string[]
  readonly reporter?: string[]
  readonly cli?: boolean
  readonly json?: boolean
}

export function pluginReportCommand(context: CliContext): Command {
  return new Command('report')
    .description('Report a finished evaluation again, in any format.')
    .argument('[run]', "a run id, the beginning of one, or 'latest'")
    .option('-r, --run-id <run>', 'the same as the argument')
    .option('-p, --plugin <name>', 'the latest run of this plugin')
    .option('-o, --output <format[:path]>', 'json, yaml, junit-xml, tap, md or html; repeatable', repeated)
    .option(
      '--reporter <name[:path]>',
      'console, junit, tap, md, html, github or a module such as ./reporter.js; repeatable',
      repeated,
    )
    .option('--cli', 'the summary for people, also beside a document that goes to a file')
    .option('--json', 'the same as -o json')
    .action((run: string | undefined, flags: PluginReportFlags) => reportEvaluation(run, flags, context))
}

/** Reports a stored evaluation as when it ended. Exits with 0 when the reports are written, whatever the verdict. */
async function reportEvaluation(run: string | undefined, flags: PluginReportFlags, context: CliContext) {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { findEvaluation } = await import('../../plugin/pipeline/find-evaluation.ts')
  const { openRun } = await import('../../store/open-run.ts')
  const { checkWritable } = await import('../../io/check-writable.ts')
  const { latestRunOf, readEvaluationState } = await import('../../plugin/pipeline/read-evaluation-state.ts')
  const { finishedEvaluation } = await import('../../plugin/report/finished-evaluation.ts')
  const { parseOutput, writeDocument, writeDocumentFile } = await import(
    '../../plugin/report/write-document.ts'
  )
  const { openReporters, refuseMixing } = await import('../../report/open-reporters.ts')
  const { printError } = await import('../print-error.ts')
  const documents = [...(flags.output ?? []), ...(flags.json === true ? ['json'] : [])].map(parseOutput)
  const named = (flags.reporter ?? []).map(parseReporterSpec)
  const wantsPeople = flags.cli === true || (documents.length === 0 && named.length === 0)
  const specs = [...named, ...(wantsPeople ? [parseReporterSpec('console')] : [])]
  refuseMixing([...documents, ...specs])
  for (const { path } of [...documents, ...specs])
    if (path !== null) checkWritable(resolve(context.cwd, path))
  const store = openProjectStore(context)
  const wanted = run ?? flags.runId
  const place = { store, cwd: context.cwd, onStep: () => {} }
  const id =
    wanted === undefined && flags.plugin !== undefined
      ? await findEvaluation(await latestRunOf(store, flags.plugin, context.cwd), place)
      : await findEvaluation(wanted ?? 'latest', place)
  refuseOtherPlugin(flags.plugin, readEvaluationState(openRun(store, id).dir)?.plugin_name, id)
  const { finished, config } = await finishedEvaluation(
    store,
    id,
    projectRedaction(context.cwd, context.env).forPeople,
  )
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
    hint: 'Use only one of them.',
  })
}
