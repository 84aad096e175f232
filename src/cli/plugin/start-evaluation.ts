import { join, resolve } from 'node:path'
import type { Project } from '../../config/load.ts'
import { GantryError } from '../../core/error.ts'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { isDirectory, isFile, isMissing } from '../../io/path-kind.ts'
import { preflightPlugin } from '../../plugin/analyze/preflight-plugin.ts'
import type { PluginConfig } from '../../plugin/config/keys/schema.ts'
import type { PluginStage } from '../../plugin/contract.ts'
import { type EvaluationTarget, evaluationTargets } from '../../plugin/pipeline/evaluation-target.ts'
import type { EvaluationRequest } from '../../plugin/pipeline/evaluation-work.ts'
import { failedScenarios } from '../../plugin/pipeline/find-evaluation.ts'
import { openEvaluation } from '../../plugin/pipeline/open-evaluation.ts'
import { readEvaluationState } from '../../plugin/pipeline/read-evaluation-state.ts'
import { preflightError } from '../../plugin/pipeline/run-analysis.ts'
import { type EvaluationEnd, runStages } from '../../plugin/pipeline/run-stages.ts'
import { plainLine } from '../../report/plain-text.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import type { CliContext } from '../context.ts'
import { keepHeapSmall } from '../keep-heap-small.ts'
import { printError } from '../print-error.ts'
import {
  endCode,
  evaluationContext,
  type OpenOutputs,
  openEvaluationOutput,
  printUnfinished,
  readOutputFlags,
} from './evaluation-output.ts'
import { loadPluginConfig } from './load-plugin-config.ts'
import type { PluginFlags } from './plugin-flags.ts'
import { printEstimate } from './print-estimate.ts'

interface Asked {
  readonly plugin: string | undefined
  readonly flags: PluginFlags
  readonly until: PluginStage
}

export async function startEvaluation(asked: Asked, context: CliContext): Promise<void> {
  const { flags } = asked
  const { config, warnings, project } = loadPluginConfig(asked.plugin, flags, context)
  for (const warning of warnings) context.stderr.write(`warning: ${plainLine(warning)}\n`)
  if (config.resume !== undefined) {
    const { continueRun } = await import('./continue-run.ts')
    const { run_id, from_stage: fromStage } = config.resume
    // When resuming, --plugin means the name of a plugin, not its directory.
    const { plugin: _, ...rest } = flags
    await continueRun(
      { run: run_id, flags: { ...rest, ...(fromStage !== undefined && { fromStage }) } },
      context,
    )
    return
  }
  const found = await evaluationTargets(withEarlierPlugin(config, project, context), context.cwd)
  const targets = found.length > 1 ? found.filter((target) => isPlugin(target, context)) : found
  if (targets.length > 1 && flags.cassettes !== undefined)
    throw new GantryError('USAGE', '--cassettes is for one plugin, but several are evaluated', {
      hint: 'Remove it: each plugin has its own cassettes.',
    })
  const requests = targets.map(
    (target): EvaluationRequest => ({
      config,
      target,
      until: asked.until,
      replay: flags.replay ?? 'off',
      cassettes: resolve(context.cwd, flags.cassettes ?? join(target.path, 'evals', 'cassettes')),
      allowScaffold: flags.scaffold === true,
      filters: [...(flags.filter ?? []), ...(flags.tag ?? []).map((tag) => `tag:${tag}`)],
    }),
  )
  if (requests.length === 1) for (const request of requests) refuseWhatCannotBegin(request, context.cwd)
  readOutputFlags(flags, { isOneOfMany: requests.length > 1, until: asked.until })
  if (config.dry_run) {
    const { dryRun } = await import('./print-estimate.ts')
    await dryRun(requests, project, flags.json === true, context)
    return
  }
  keepHeapSmall()
  const codes: ExitCode[] = []
  for (const request of requests) {
    codes.push(
      requests.length === 1
        ? await evaluateOne(request, asked, context, false)
        : await oneOfMany(request, asked, context),
    )
    if (context.signal.aborted) break
  }
  context.setExitCode(codes.length === 0 ? exitCode.inconclusive : worst(codes))
}

/** Of several, a directory without a plugin is skipped, such as one with only a README. */
function isPlugin({ path, name = path }: EvaluationTarget, { cwd, stderr }: CliContext): boolean {
  const isEmpty =
    isDirectory(path) &&
    isMissing(join(path, '.claude-plugin')) &&
    preflightPlugin(path, cwd).errors.some(({ code }) => code === 'MANIFEST_NOT_FOUND')
  if (isEmpty)
    stderr.write(`skipped ${plainLine(name)}: ${plainLine(path)} has no manifest and no components\n`)
  return !isEmpty
}

/** A plugin that cannot be evaluated does not stop the others: its error is printed and sets the exit code. */
async function oneOfMany(request: EvaluationRequest, asked: Asked, context: CliContext): Promise<ExitCode> {
  try {
    refuseWhatCannotBegin(request, context.cwd)
    return await evaluateOne(request, asked, context, true)
  } catch (error) {
    return printError(error, context)
  }
}

/** Rejects requests that would fail at once, before a run directory is created. */
function refuseWhatCannotBegin({ target, config, replay, cassettes }: EvaluationRequest, cwd: string): void {
  const preflight = preflightPlugin(target.path, cwd)
  if (!preflight.valid) throw preflightError(preflight)
  const missing = config.scenarios.find((path) => !isFile(path))
  if (missing !== undefined)
    throw new GantryError('NOT_FOUND', `the file ${missing} does not exist`, {
      hint: 'It is given by --scenarios or by scenarios: in the configuration.',
    })
  if (replay === 'strict' && !isDirectory(cassettes))
    throw new GantryError('NOT_FOUND', `nothing was recorded in ${cassettes}`, {
      hint: 'Record it once with --replay record, or set its directory with --cassettes.',
    })
}

/** --fast without a plugin means the plugin of the failed run. */
function withEarlierPlugin(config: PluginConfig, project: Project, context: CliContext): PluginConfig {
  const { fast_mode: fast, plugin, marketplace } = config
  if (!fast.enabled || plugin?.path !== undefined || marketplace !== undefined) return config
  const { store } = evaluationContext(context, () => {}, project)
  const { dir } = openRun(store, findRun(store, fast.failed_run_id ?? 'latest', { kind: 'plugin' }))
  const path = readEvaluationState(dir)?.plugin_path
  return path === undefined ? config : { ...config, plugin: { ...plugin, path } }
}

async function evaluateOne(
  request: EvaluationRequest,
  { flags, until }: Asked,
  context: CliContext,
  isOneOfMany: boolean,
): Promise<ExitCode> {
  const { config } = request
  const { outputs, view, evaluation } = await openEvaluationOutput(flags, config, context, {
    isOneOfMany,
    until,
  })
  const fast = config.fast_mode.enabled
    ? await failedScenarios(evaluation.store, config.fast_mode.failed_run_id ?? 'latest', evaluation.cwd)
    : null
  await using work = await openEvaluation(request, evaluation, fast)
  view.begin(work.state().plugin_name, work.run.id)
  const end = await runStages(work, outputs.reporter(view), {
    ...(flags.threshold !== undefined && { threshold: flags.threshold }),
    beforeSpending: async (_, load) => {
      if (config.estimate_costs) await printEstimate(work, view, flags, load)
    },
  }).finally(view.stop)
  return finish(end, outputs, { flags, until }, context, request)
}

async function finish(
  end: EvaluationEnd,
  outputs: OpenOutputs,
  { flags, until }: Pick<Asked, 'flags' | 'until'>,
  context: CliContext,
  request: EvaluationRequest,
): Promise<ExitCode> {
  if (until === 'generation' && !end.interrupted) {
    const { printScenarios } = await import('./print-scenarios.ts')
    await printScenarios(
      end,
      { json: flags.json === true, writeCases: flags.writeCases, request },
      outputs.stream,
      context,
    )
  } else if (end.summary === null)
    printUnfinished(end, { json: flags.json === true, until }, outputs.stream, context)
  return endCode(end, outputs, flags, context)
}

/** The most important code: interruption, then infrastructure, then bad input, then failures. */
function worst(codes: readonly ExitCode[]): ExitCode {
  const order: readonly ExitCode[] = [
    exitCode.interrupted,
    exitCode.infra,
    exitCode.usage,
    exitCode.failed,
    exitCode.inconclusive,
    exitCode.pass,
  ]
  return order.find((code) => codes.includes(code)) ?? exitCode.pass
}
