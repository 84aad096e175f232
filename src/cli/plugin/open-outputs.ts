import { join, resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { ExitCode } from '../../core/exit-code.ts'
import { checkWritable } from '../../io/check-writable.ts'
import type { PluginConfig } from '../../plugin/config/keys/schema.ts'
import type { PluginStage } from '../../plugin/contract.ts'
import {
  documentName,
  type OutputSpec,
  parseOutput,
  writeDocument,
  writeDocumentFile,
} from '../../plugin/report/write-document.ts'
import type { FinishedRun, Reporter } from '../../report/contract.ts'
import { parseReporterSpec } from '../../report/index.ts'
import { type ComposedReporter, composeReporters, openReporters } from '../../report/open-reporters.ts'
import type { CliContext, CliStream } from '../context.ts'
import { printError } from '../print-error.ts'
import type { PluginFlags } from './plugin-flags.ts'
import type { PluginView } from './plugin-view.ts'

/** Where the words for people and the documents for machines go. */
export interface OpenOutputs {
  /** For people: standard output, unless a document goes there. */
  readonly stream: CliStream
  /** Nobody reads along. */
  readonly isSilent: boolean
  /** Takes the view of the stages away before it speaks. */
  reporter(view: Pick<PluginView, 'stop'>): Reporter
  /** After the run. The exit code of a document that could not be written; null when all were. */
  finish(context: CliContext): ExitCode | null
}

export async function openOutputs(
  flags: Pick<PluginFlags, 'output' | 'reporter' | 'json'>,
  config: PluginConfig,
  context: CliContext,
  { isOneOfMany, until }: { readonly isOneOfMany: boolean; readonly until: PluginStage },
): Promise<OpenOutputs> {
  const documents = [...(flags.output ?? []), ...(flags.json === true ? ['json'] : [])].map(parseOutput)
  const specs = (flags.reporter ?? []).map(parseReporterSpec)
  refuseWhatCannotBe([...documents, ...specs], isOneOfMany, until)
  for (const { path } of [...documents, ...specs])
    if (path !== null) checkWritable(resolve(context.cwd, path))
  const hasDocument =
    documents.some(({ path }) => path === null) ||
    specs.some(({ name, path }) => path === null && name !== 'console' && name !== 'github')
  const stream = hasDocument ? context.stderr : context.stdout
  const isSilent = hasDocument && !stream.isTTY
  const place = { env: context.env, cwd: context.cwd }
  const named = await openReporters(specs, { ...place, stdout: context.stdout })
  const people =
    isSilent ||
    !config.output.include_cli_summary ||
    specs.some(({ name, path }) => name === 'console' && path === null)
      ? null
      : await openReporters([parseReporterSpec('console')], { ...place, stdout: stream })
  const all = composeReporters({
    ...(people !== null && { people }),
    named,
    documents: documentReporter(documents, config, context),
  })
  return {
    stream,
    isSilent,
    // The stages have told on the way what was run; a line for every verdict only when everything is wanted.
    reporter: (view) => ({
      ...all,
      runStarted(run) {
        view.stop()
        all.runStarted({ ...run, told: config.verbose ? 'trials' : 'end' })
      },
    }),
    finish: (told) => report([all, named, ...(people === null ? [] : [people])], told),
  }
}

/** Documents are written when everything is known; the one of the configuration goes into the run's own directory. */
function documentReporter(
  documents: readonly OutputSpec[],
  { output }: PluginConfig,
  context: CliContext,
): Reporter {
  const options = { suiteName: output.junit_test_suite_name }
  return {
    async runEnded(run: FinishedRun) {
      await writeDocumentFile(
        output.format,
        run,
        join(run.runDir, 'reports', documentName(output.format)),
        options,
      )
      for (const { format, path } of documents) {
        if (path !== null) await writeDocumentFile(format, run, resolve(context.cwd, path), options)
        else await writeDocument(format, run, context.stdout, null, options)
      }
    },
  }
}

function report(reporters: readonly ComposedReporter[], context: CliContext): ExitCode | null {
  let code: ExitCode | null = null
  for (const { name, error } of reporters.flatMap((reporter) => reporter.problems())) {
    context.stderr.write(`The report ${name} failed.\n`)
    code = printError(error, context)
  }
  return code
}

function refuseWhatCannotBe(
  wanted: readonly { readonly path: string | null }[],
  isOneOfMany: boolean,
  until: PluginStage,
): void {
  const onStdout = wanted.filter(({ path }) => path === null).length
  if (onStdout > 1)
    throw new GantryError('USAGE', 'two documents would mix on standard output', {
      hint: 'Send all but one to files: FORMAT:PATH',
    })
  if (isOneOfMany && wanted.some(({ path }) => path !== null))
    throw new GantryError(
      'USAGE',
      'several plugins are evaluated, and each report would replace the one before',
      {
        hint: 'Leave the path out: every run keeps its own in reports/. gantry plugin report writes it elsewhere.',
      },
    )
  if (until === 'execution' && wanted.length > 0)
    throw new GantryError('USAGE', 'there is nothing to report before the last stage', {
      hint: 'Use gantry plugin run, or gantry plugin evaluate RUN afterwards.',
    })
}
