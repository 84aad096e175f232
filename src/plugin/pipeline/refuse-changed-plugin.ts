import { GantryError } from '../../core/error.ts'
import { analyzePlugin } from '../analyze/analyze-plugin.ts'
import { type EvaluationState, nextStage } from '../state/evaluation-state.ts'
import type { EvaluationFiles } from './evaluation-files.ts'
import { preflightError } from './run-analysis.ts'

/** Trials of two versions of a plugin in one report would say something of neither. What is only judged may be of any version. */
export async function refuseChangedPlugin(
  { runId }: EvaluationFiles,
  state: EvaluationState,
  cwd: string,
): Promise<void> {
  const stage = nextStage(state)
  if ((stage !== 'generation' && stage !== 'execution') || state.content_hash === '') return
  const outcome = await analyzePlugin({ path: state.plugin_path, cwd, crowd: [] })
  if (outcome.kind === 'refused') throw preflightError(outcome.preflight)
  if (outcome.analysis.content_hash === state.content_hash) return
  throw new GantryError(
    'USAGE',
    `the plugin in ${state.plugin_path} has changed since run ${runId} looked at it`,
    {
      hint: `Begin a new run, do this one again with gantry plugin resume ${runId} --from-stage analysis, or judge what it has with gantry plugin evaluate ${runId}.`,
    },
  )
}
