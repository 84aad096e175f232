import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import type { ListingBudget, PluginFinding } from '../../plugin/analyze/contract.ts'
import type { EvaluationSummary } from '../../plugin/evaluate/metrics/create-evaluation-fold.ts'
import {
  evaluationFiles,
  readAnalysis,
  readEvaluationHead,
  readScenarios,
} from '../../plugin/pipeline/evaluation-files.ts'
import { evaluationView } from '../../plugin/report/evaluation-view.ts'
import type { Store, TrialRow } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { readTrial } from '../../store/read-trials.ts'
import { named, shared } from '../api-schemas.ts'

const failuresMax = 500

export const pluginSchema = named(
  'PluginRun',
  z.object({
    plugin_name: z.string(),
    plugin_path: z.string(),
    agent: z.string(),
    model: z.string(),
    summary: shared<EvaluationSummary>(
      'EvaluationSummary',
      'src/plugin/evaluate/metrics/create-evaluation-fold.ts',
      'The summary in evaluation.json.',
    ),
    findings: z.array(
      shared<PluginFinding>('PluginFinding', 'src/plugin/analyze/contract.ts', 'A finding in the files.'),
    ),
    listing: shared<ListingBudget>(
      'ListingBudget',
      'src/plugin/analyze/contract.ts',
      'Which descriptions the model sees.',
    ),
    changes: z
      .array(z.object({ file: z.string(), because: z.string() }))
      .meta({ description: 'What to change, the most useful first.' }),
    failures: z.array(
      z.object({
        trial: z.string(),
        scenario: z.string(),
        prompt: z.string().nullable(),
        reason: z.string(),
        advice: z.array(z.string()).meta({ description: 'Likely causes.' }),
      }),
    ),
    next_steps: z.array(z.string()),
  }),
)

/** What the page shows of an evaluation of a plugin. Throws GantryError NOT_FOUND when it has no verdicts yet. */
export function pluginView(store: Store, runId: string, trials: readonly TrialRow[]) {
  const run = openRun(store, runId)
  const files = evaluationFiles(run.dir)
  const head = readEvaluationHead(files)
  if (head === null)
    throw new GantryError('NOT_FOUND', `run ${runId} has no evaluation of a plugin yet`, {
      hint: 'Trials that have ended are below. The evaluation comes at the end.',
    })
  const { plugin_name, plugin_path, agent, model, summary, findings, listing, not_run } = head
  const scenarios = readScenarios(files)
  const prompts = new Map(scenarios.map(({ id, user_prompt }) => [id, user_prompt]))
  const view = evaluationView(
    { counts: summary.counts, notRun: not_run.length },
    { runId, summary, analysis: readAnalysis(files), scenarios },
  )
  const failed = trials.filter(({ verdict }) => verdict === 'fail').slice(0, failuresMax)
  return {
    plugin_name,
    plugin_path,
    agent,
    model,
    summary,
    findings,
    listing,
    changes: (view.sections ?? [])
      .filter(({ isFirst }) => isFirst === true)
      .flatMap(({ rows }) => rows.map(([file = '', because = '']) => ({ file, because }))),
    failures: failed.map(({ trial_id: trial, case: scenario, reason }) => {
      const record = readTrial(run.dir, trial)
      const advice = record === null ? [] : (view.diagnose?.(record) ?? [])
      return { trial, scenario, prompt: prompts.get(scenario) ?? null, reason, advice }
    }),
    next_steps: view.nextSteps ?? [],
  }
}
