import pc from 'picocolors'
import type { Project } from '../../config/load.ts'
import { openProjectStore } from '../../config/open-project-store.ts'
import { counted, formatCount } from '../../core/counted.ts'
import { defined } from '../../core/json-fields.ts'
import { sum } from '../../core/sum.ts'
import { analyzePlugin } from '../../plugin/analyze/analyze-plugin.ts'
import type { PluginLoad } from '../../plugin/analyze/contract.ts'
import { contextWindow, expectedAgentModel } from '../../plugin/config/model-names.ts'
import { readAnalysis, readScenarios } from '../../plugin/pipeline/evaluation-files.ts'
import type { EvaluationRequest, EvaluationWork } from '../../plugin/pipeline/evaluation-work.ts'
import { failedScenarios } from '../../plugin/pipeline/find-evaluation.ts'
import {
  type CostEstimate,
  earlierTrialCosts,
  paidEstimate,
  type StageEstimate,
} from '../../plugin/pipeline/paid-estimate.ts'
import { preflightError } from '../../plugin/pipeline/run-analysis.ts'
import { formatCost, formatPercent } from '../../report/quantity.ts'
import { type Column, textTable } from '../../report/text-table.ts'
import type { CliContext, CliStream } from '../context.ts'
import { analysisReport } from './analysis-report.ts'
import type { PluginFlags } from './plugin-flags.ts'
import { printReport } from './print-report.ts'
import type { StageView } from './stage-view.ts'

/** Prints the estimated cost before anything is spent. Warns about a run that would exceed its budget. */
export async function printEstimate(
  work: EvaluationWork,
  view: StageView,
  flags: Pick<PluginFlags, 'progress'>,
  load: PluginLoad | null,
): Promise<void> {
  const { context, files, request } = work
  const analysis = readAnalysis(files)
  const estimate = await paidEstimate(
    {
      analysis,
      fast: work.state().fast_from === null ? null : readScenarios(files),
      agentModel: load?.model,
      earlierUsd: await earlierTrialCosts(context.store, analysis.plugin_name, request.config.execution),
    },
    request,
    context.project,
    context.env,
  )
  if (!estimate.within_budget)
    view.step({
      kind: 'note',
      level: 'warning',
      message: `this run would cost about ${formatCost(estimate.known_cost_usd)}, but stops at ${formatCost(work.request.config.execution.max_budget_usd)}`,
    })
  const isShown = flags.progress !== 'none' && flags.progress !== 'jsonl'
  if (isShown && estimate.total_estimated_cost_usd !== 0)
    view.step({ kind: 'note', level: 'info', message: `estimate: ${estimateLine(estimate)}` })
}

/** `about $1.20 for 40 trials: generation $0.05, execution $1.10, evaluation $0.05`. */
function estimateLine({ stages, trials, total_estimated_cost_usd: total }: CostEstimate): string {
  const parts = stages.map(({ stage, estimated_cost_usd: cost }) => `${stage} ${formatCost(cost)}`)
  return `${total === null ? 'total unknown' : `about ${formatCost(total)}`} for ${counted(trials, 'trial')}: ${parts.join(', ')}`
}

function printEstimateTable(estimate: CostEstimate, budgetUsd: number, stream: CliStream): void {
  const { bold, dim, yellow } = pc.createColors(stream.color)
  const { stages, total_estimated_cost_usd: total } = estimate
  stream.write(
    `\n${bold('Estimate')}  ${counted(estimate.scenarios, 'scenario')}, ${counted(estimate.trials, 'trial')}\n`,
  )
  const rows = [
    ...stages.map((stage): Row => ({ ...stage, model: stage.model ?? 'none' })),
    {
      stage: 'total',
      model: '',
      requests: sum(stages.map(({ requests }) => requests)),
      input_tokens: sum(stages.map(({ input_tokens: tokens }) => tokens)),
      estimated_output_tokens: sum(stages.map(({ estimated_output_tokens: tokens }) => tokens)),
      estimated_cost_usd: total,
    },
  ]
  const table = textTable(tableColumns, rows, (stream.isTTY ? stream.columns : 140) - 2)
  stream.write(`${dim(`  ${table.heading}`)}\n`)
  for (const row of rows) stream.write(`  ${table.line(row)}\n`)
  for (const line of remarksOf(estimate)) stream.write(`  ${dim(line)}\n`)
  if (!estimate.within_budget)
    stream.write(
      yellow(`\nThat is above the budget of ${formatCost(budgetUsd)}: the run would stop before its end.\n`),
    )
}

type Row = Pick<
  StageEstimate,
  'requests' | 'input_tokens' | 'estimated_output_tokens' | 'estimated_cost_usd'
> & { readonly stage: string; readonly model: string }

const tableColumns: readonly Column<Row>[] = [
  { title: 'stage', text: ({ stage }) => stage },
  { title: 'model', text: ({ model }) => model, shorten: 'middle', dropAt: 1 },
  { title: 'requests', text: (row) => formatCount(row.requests), align: 'right', dropAt: 3 },
  { title: 'tokens in', text: (row) => formatCount(row.input_tokens), align: 'right', dropAt: 2 },
  { title: 'tokens out', text: (row) => formatCount(row.estimated_output_tokens), align: 'right', dropAt: 2 },
  { title: 'cost', text: (row) => formatCost(row.estimated_cost_usd), align: 'right' },
]

function remarksOf({ stages, total_estimated_cost_usd: total }: CostEstimate): readonly string[] {
  if (total === 0) return ['No cost: scripts or recordings answer, or no model is called.']
  const execution = stages.find(({ stage }) => stage === 'execution')
  const cached =
    execution === undefined ? 0 : execution.cached_input_tokens / Math.max(1, execution.input_tokens)
  const earlier = execution?.earlier_trial_cost_usd
  return [
    ...(earlier !== undefined
      ? [`Execution: a trial cost ${formatCost(earlier)} in the last run of this plugin.`]
      : cached > 0
        ? [`Execution: ${formatPercent(cached)} of its input probably comes from a cache, which is cheaper.`]
        : []),
    ...(stages.some(({ is_batched }) => is_batched === true)
      ? ['Evaluation: in batches, at half the price.']
      : []),
  ]
}

/** `--dry-run`: what would run and what it would cost. Creates no run and spends nothing. */
export async function dryRun(
  requests: readonly EvaluationRequest[],
  project: Project,
  json: boolean,
  context: CliContext,
): Promise<void> {
  const documents: unknown[] = []
  const store = openProjectStore(context)
  for (const request of requests) {
    const { path, crowd, name } = request.target
    const { execution, fast_mode: fast } = request.config
    const contextTokens = contextWindow(expectedAgentModel(execution.model, execution.env))
    const outcome = await analyzePlugin(defined({ path, cwd: context.cwd, crowd, contextTokens, name }))
    if (outcome.kind === 'refused') throw preflightError(outcome.preflight)
    const { analysis } = outcome
    const failed = fast.enabled
      ? await failedScenarios(store, fast.failed_run_id ?? 'latest', context.cwd)
      : null
    const estimate = await paidEstimate(
      {
        analysis,
        fast: failed?.scenarios ?? null,
        earlierUsd: await earlierTrialCosts(store, analysis.plugin_name, execution),
      },
      request,
      project,
      context.env,
    )
    documents.push({ plugin_name: analysis.plugin_name, estimate, analysis })
    if (json) continue
    const shown = { name: analysis.plugin_name, verbose: false }
    printReport(analysisReport(analysis, context.stdout), shown, context)
    printEstimateTable(estimate, execution.max_budget_usd, context.stdout)
    context.stdout.write('\nNothing was run. Run the same command without --dry-run to start.\n')
  }
  if (json)
    context.stdout.write(`${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`)
}
