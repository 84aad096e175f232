import { GantryError } from '../../core/error.ts'
import { exitCode } from '../../core/exit-code.ts'
import { exitCodeOf } from '../../core/run-exit-code.ts'
import type { PluginConfig } from '../../plugin/config/keys/schema.ts'
import { apiModelName } from '../../plugin/config/model-names.ts'
import { evaluationFiles } from '../../plugin/pipeline/evaluation-files.ts'
import { latestRunOf } from '../../plugin/pipeline/read-evaluation-state.ts'
import { resumeEvaluation } from '../../plugin/pipeline/resume-evaluation.ts'
import { runStages } from '../../plugin/pipeline/run-stages.ts'
import { storedConfig } from '../../plugin/pipeline/stored-request.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import type { CliContext } from '../context.ts'
import { keepHeapSmall } from '../keep-heap-small.ts'
import { openOutputs } from './open-outputs.ts'
import { openPowers } from './open-powers.ts'
import type { ResumeFlags } from './plugin-flags.ts'
import { pluginView } from './plugin-view.ts'
import { sanitizedSteps } from './sanitized-steps.ts'
import { tellUnfinished } from './tell-unfinished.ts'

/** `gantry plugin resume` and `evaluate`, once the flags are known. */
export async function resumeCommand(
  { run, flags }: { readonly run: string | undefined; readonly flags: ResumeFlags },
  context: CliContext,
): Promise<void> {
  const named = run ?? flags.runId
  if (named === undefined && flags.plugin === undefined)
    throw new GantryError('USAGE', 'no run is named', {
      hint: 'Name one, or --plugin NAME for its latest. See "gantry plugin list".',
    })
  const { store } = openPowers(context, () => {})
  const id = findRun(store, named ?? (await latestRunOf(store, flags.plugin ?? '')), { kind: 'plugin' })
  const stored = storedConfig(evaluationFiles(openRun(store, id).dir))
  const config = { ...stored, verbose: flags.verbose ?? stored.verbose }
  const outputs = await openOutputs(flags, config, context, { isOneOfMany: false, until: 'evaluation' })
  const view = await pluginView(context, outputs.stream, {
    mode: flags.progress ?? (outputs.isSilent ? 'none' : 'auto'),
    verbose: config.verbose,
    barWidth: config.tuning.limits.progress_bar_width,
    promptLength: config.tuning.limits.prompt_display_length,
  })
  const powers = openPowers(context, sanitizedSteps(config, view.step))
  keepHeapSmall()
  await using work = await resumeEvaluation(
    {
      run: id,
      ...(flags.fromStage !== undefined && { fromStage: flags.fromStage }),
      ...(flags.plugin !== undefined && { pluginName: flags.plugin }),
      change: (config) => changed(config, flags),
    },
    powers,
  )
  view.begin(work.state().plugin_name, work.run.id)
  const end = await runStages(work, outputs.reporter(view), {
    ...(flags.threshold !== undefined && { threshold: flags.threshold }),
  }).finally(view.stop)
  if (end.summary === null)
    tellUnfinished(end, { json: flags.json === true, until: 'evaluation' }, outputs.stream, context)
  const failedCode = outputs.finish(context)
  context.setExitCode(
    end.interrupted
      ? exitCode.interrupted
      : (failedCode ??
          (end.summary === null
            ? exitCode.pass
            : exitCodeOf(end.summary, { strict: flags.strict === true }))),
  )
}

/** What can be said anew about a run: how it is judged, and how much it may cost. */
function changed(config: PluginConfig, flags: ResumeFlags): PluginConfig {
  const { execution, evaluation } = config
  return {
    ...config,
    ...(!flags.batch && { force_synchronous: true }),
    execution: { ...execution, ...(flags.maxCostUsd !== undefined && { max_budget_usd: flags.maxCostUsd }) },
    evaluation: {
      ...evaluation,
      ...(flags.judgeModel !== undefined && { model: apiModelName(flags.judgeModel) }),
      ...(flags.samples !== undefined && { num_samples: flags.samples }),
    },
  }
}
