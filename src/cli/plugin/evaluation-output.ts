import { join, resolve } from 'node:path'
import { loadProject, type Project } from '../../config/load.ts'
import { openProjectStore } from '../../config/open-project-store.ts'
import { GantryError } from '../../core/error.ts'
import { type ExitCode, exitCode, exitCodeOf } from '../../core/exit-code.ts'
import { defined } from '../../core/json-fields.ts'
import { checkWritable } from '../../io/check-writable.ts'
import type { PluginConfig } from '../../plugin/config/keys/schema.ts'
import type { PluginStage, PluginStep } from '../../plugin/contract.ts'
import type { EvaluationContext } from '../../plugin/pipeline/evaluation-work.ts'
import type { EvaluationEnd } from '../../plugin/pipeline/run-stages.ts'
import {
  documentName,
  type OutputSpec,
  parseOutput,
  writeDocument,
  writeDocumentFile,
} from '../../plugin/report/write-document.ts'
import { createSanitizers } from '../../plugin/sanitize/create-sanitizer.ts'
import type { FinishedRun, Reporter } from '../../report/contract.ts'
import { parseReporterSpec, type ReporterSpec, sharesOutput } from '../../report/index.ts'
import {
  composeReporters,
  openReporters,
  type ReporterProblem,
  refuseMixing,
} from '../../report/open-reporters.ts'
import type { CliContext, CliStream } from '../context.ts'
import { printReporterProblems } from '../print-reporter-problems.ts'
import type { PluginFlags } from './plugin-flags.ts'
import { openStageView, type StageView } from './stage-view.ts'

/** Where text for people and documents for machines are written. */
export type OpenOutputs = Awaited<ReturnType<typeof openOutputs>>

interface OutputOptions {
  readonly isOneOfMany: boolean
  readonly until: PluginStage
}

/** The outputs of a run, the view of its stages, and what the evaluation needs from the command line. */
export async function openEvaluationOutput(
  flags: Pick<PluginFlags, 'output' | 'reporter' | 'json' | 'progress'>,
  config: PluginConfig,
  context: CliContext,
  options: OutputOptions,
) {
  const outputs = await openOutputs(flags, config, context, options)
  const view = await openStageView(context, outputs.stream, {
    mode: flags.progress ?? (outputs.isSilent ? 'none' : 'auto'),
    verbose: config.verbose,
    barWidth: config.tuning.limits.progress_bar_width,
    promptLength: config.tuning.limits.prompt_display_length,
  })
  const { logs } = createSanitizers(config.output)
  return { outputs, view, evaluation: evaluationContext(context, (step) => view.step(logs(step))) }
}

/** The exit code of a run that has ended. A report that failed never changes the result: only a run that passed exits 3 then. */
export function endCode(
  end: EvaluationEnd,
  outputs: OpenOutputs,
  { strict }: Pick<PluginFlags, 'strict'>,
  context: CliContext,
): ExitCode {
  return printReporterProblems(
    outputs.problems(),
    { runId: end.runId, code: codeOf(end, strict === true) },
    context,
  )
}

function codeOf({ interrupted, summary }: EvaluationEnd, strict: boolean): ExitCode {
  if (interrupted) return exitCode.interrupted
  return summary === null ? exitCode.pass : exitCodeOf(summary, { strict })
}

async function openOutputs(
  flags: Pick<PluginFlags, 'output' | 'reporter' | 'json'>,
  config: PluginConfig,
  context: CliContext,
  options: OutputOptions,
) {
  const { documents, specs } = readOutputFlags(flags, options)
  for (const { path } of [...documents, ...specs])
    if (path !== null) checkWritable(resolve(context.cwd, path))
  const hasDocument =
    documents.some(({ path }) => path === null) ||
    specs.some((spec) => spec.path === null && !sharesOutput(spec))
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
  const all = composeReporters(
    defined({ people: people ?? undefined, named, documents: documentReporter(documents, config, context) }),
  )
  return {
    /** For people: standard output, unless a document goes there. */
    stream,
    /** Standard output is a document and the stream for people is not a terminal. */
    isSilent,
    // The stage view has already shown what ran, so verdicts get a line each only with --verbose.
    reporter: (view: Pick<StageView, 'stop'>): Reporter => ({
      ...all,
      runStarted(run) {
        view.stop()
        all.runStarted({ ...run, consoleDetail: config.verbose ? 'trials' : 'end' })
      },
    }),
    /** Complete after the run. */
    problems: (): readonly ReporterProblem[] =>
      [all, named, ...(people === null ? [] : [people])].flatMap((part) => part.problems()),
  }
}

/** Documents are written at the end; that of the configuration goes into the run directory. */
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

/** The documents and reporters that the flags ask for. Throws GantryError USAGE when they cannot be written together. */
export function readOutputFlags(
  flags: Pick<PluginFlags, 'output' | 'reporter' | 'json'>,
  { isOneOfMany, until }: OutputOptions,
): { readonly documents: readonly OutputSpec[]; readonly specs: readonly ReporterSpec[] } {
  const documents = [...(flags.output ?? []), ...(flags.json === true ? ['json'] : [])].map(parseOutput)
  const specs = (flags.reporter ?? []).map(parseReporterSpec)
  const wanted = [...documents, ...specs]
  refuseMixing(wanted)
  if (isOneOfMany && wanted.some(({ path }) => path !== null))
    throw new GantryError(
      'USAGE',
      'several plugins are evaluated, and each report would replace the previous one',
      {
        hint: 'Remove the path: every run keeps its own report in reports/. Use gantry plugin report to write it elsewhere.',
      },
    )
  if (until === 'execution' && wanted.length > 0)
    throw new GantryError('USAGE', 'there is nothing to report before the last stage', {
      hint: 'Use gantry plugin run, or gantry plugin evaluate RUN afterwards.',
    })
  return { documents, specs }
}

/** What the command line provides to an evaluation. Steps are redacted before they reach `onStep`. */
export function evaluationContext(
  context: CliContext,
  onStep: (step: PluginStep) => void = () => {},
  project: Project = loadProject(context.cwd),
): EvaluationContext {
  return {
    store: openProjectStore(context),
    project,
    cwd: context.cwd,
    env: context.env,
    signal: context.signal,
    argv: ['gantry', ...process.argv.slice(2)],
    onStep,
  }
}

/** Prints a run that ended before its verdicts: where its files are, and how to continue it. */
export function printUnfinished(
  { runId, runDir, interrupted }: EvaluationEnd,
  { json, until }: { readonly json: boolean; readonly until: PluginStage },
  stream: CliStream,
  context: Pick<CliContext, 'stdout'>,
): void {
  if (json)
    context.stdout.write(
      `${JSON.stringify({ run_id: runId, run_dir: runDir, stage: until, ...(interrupted && { interrupted }) })}\n`,
    )
  else
    stream.write(
      `\n${interrupted ? 'Interrupted. Finished work is kept.\n' : ''}Files  ${runDir}\nNext   gantry plugin resume ${runId}\n`,
    )
}
