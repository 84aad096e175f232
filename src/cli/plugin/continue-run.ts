import { openProjectStore } from '../../config/open-project-store.ts'
import { GantryError } from '../../core/error.ts'
import { evaluationFiles } from '../../plugin/pipeline/evaluation-files.ts'
import { findEvaluation } from '../../plugin/pipeline/find-evaluation.ts'
import { latestRunOf } from '../../plugin/pipeline/read-evaluation-state.ts'
import { resumeEvaluation, withChanges } from '../../plugin/pipeline/resume-evaluation.ts'
import { runStages } from '../../plugin/pipeline/run-stages.ts'
import { storedConfig } from '../../plugin/pipeline/stored-request.ts'
import { plainLine } from '../../report/plain-text.ts'
import { openRun } from '../../store/open-run.ts'
import type { CliContext } from '../context.ts'
import { keepHeapSmall } from '../keep-heap-small.ts'
import { endCode, openEvaluationOutput, printUnfinished } from './evaluation-output.ts'
import type { ResumeFlags } from './plugin-flags.ts'

export async function continueRun(
  { run, flags }: { readonly run: string | undefined; readonly flags: ResumeFlags },
  context: CliContext,
): Promise<void> {
  const named = run ?? flags.runId
  if (named === undefined && flags.plugin === undefined)
    throw new GantryError('USAGE', 'no run was given', {
      hint: 'Name one, or --plugin NAME for its latest. See "gantry plugin list".',
    })
  const store = openProjectStore(context)
  const id = await findEvaluation(named ?? (await latestRunOf(store, flags.plugin ?? '', context.cwd)), {
    store,
    cwd: context.cwd,
    onStep: (step) => {
      if (step.kind === 'note') context.stderr.write(`${plainLine(step.message)}\n`)
    },
  })
  const stored = storedConfig(evaluationFiles(openRun(store, id).dir))
  const config = { ...stored, verbose: flags.verbose ?? stored.verbose }
  const { outputs, view, evaluation } = await openEvaluationOutput(flags, config, context, {
    isOneOfMany: false,
    until: 'evaluation',
  })
  keepHeapSmall()
  await using work = await resumeEvaluation(
    {
      run: id,
      ...(flags.fromStage !== undefined && { fromStage: flags.fromStage }),
      ...(flags.plugin !== undefined && { pluginName: flags.plugin }),
      change: (config) => withChanges(config, flags),
    },
    evaluation,
  )
  view.begin(work.state().plugin_name, work.run.id)
  const end = await runStages(work, outputs.reporter(view), {
    ...(flags.threshold !== undefined && { threshold: flags.threshold }),
  }).finally(view.stop)
  if (end.summary === null)
    printUnfinished(end, { json: flags.json === true, until: 'evaluation' }, outputs.stream, context)
  context.setExitCode(endCode(end, outputs, flags, context))
}
