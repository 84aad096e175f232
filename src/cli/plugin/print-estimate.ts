import pc from 'picocolors'
import type { Project } from '../../config/load.ts'
import { counted, formatCount } from '../../core/counted.ts'
import { analyzePlugin } from '../../plugin/analyze/analyze-plugin.ts'
import type { CostEstimate } from '../../plugin/generate/estimate-costs.ts'
import { paidEstimate } from '../../plugin/pipeline/estimate-evaluation.ts'
import { readAnalysis } from '../../plugin/pipeline/evaluation-files.ts'
import type { EvaluationRequest, EvaluationWork } from '../../plugin/pipeline/evaluation-work.ts'
import { preflightError } from '../../plugin/pipeline/run-analysis.ts'
import { formatCost } from '../../report/quantity.ts'
import type { CliContext, CliStream } from '../context.ts'
import type { PluginFlags } from './plugin-flags.ts'
import { printAnalysis } from './print-analysis.ts'
import type { StageView } from './stage-view.ts'

/** What the stages that cost money would cost, before the first of them. A run that would break its budget is warned of. */
export async function printEstimate(
  work: EvaluationWork,
  view: StageView,
  flags: Pick<PluginFlags, 'progress'>,
): Promise<void> {
  const { project, env } = work.context
  const estimate = paidEstimate(readAnalysis(work.files), work.request, project, env)
  if (!estimate.within_budget)
    view.step({
      kind: 'note',
      level: 'warning',
      message: `this run would cost about ${formatCost(estimate.known_cost_usd)}, and stops at ${formatCost(work.request.config.execution.max_budget_usd)}`,
    })
  const isShown = flags.progress !== 'none' && flags.progress !== 'jsonl'
  if (isShown && estimate.total_estimated_cost_usd !== 0)
    view.step({ kind: 'note', level: 'info', message: `estimate: ${estimateLine(estimate)}` })
}

/** `about $1.20: generation $0.05, execution $1.10, evaluation $0.05`. */
function estimateLine({ stages, total_estimated_cost_usd: total }: CostEstimate): string {
  const parts = stages.map(({ stage, estimated_cost_usd: cost }) => `${stage} ${formatCost(cost)}`)
  return `${total === null ? 'total unknown' : `about ${formatCost(total)}`}: ${parts.join(', ')}`
}

export function printEstimateTable(estimate: CostEstimate, stream: CliStream): void {
  const { bold, dim, yellow } = pc.createColors(stream.color)
  stream.write(
    `\n${bold('Estimate')}  about ${counted(estimate.scenarios, 'scenario')}, ${counted(estimate.trials, 'trial')}\n`,
  )
  if (estimate.total_estimated_cost_usd === 0) {
    stream.write('  Nothing is paid: scripts and recordings answer, or no model is asked.\n')
    return
  }
  for (const {
    stage,
    input_tokens,
    estimated_output_tokens,
    estimated_cost_usd,
    is_batched,
  } of estimate.stages)
    stream.write(
      `  ${stage.padEnd(12)} ${formatCost(estimated_cost_usd).padStart(10)}  ${dim(`${formatCount(input_tokens)} tokens in, ${formatCount(estimated_output_tokens)} out${is_batched === true ? ', in batches at half the price' : ''}`)}\n`,
    )
  stream.write(`  ${'total'.padEnd(12)} ${formatCost(estimate.total_estimated_cost_usd).padStart(10)}\n`)
  if (!estimate.within_budget)
    stream.write(yellow('\nThat is above the budget: the run would stop before its end.\n'))
}

/** `--dry-run`: what would be tried and what it would cost. Makes no run and spends nothing. */
export async function dryRun(
  requests: readonly EvaluationRequest[],
  project: Project,
  json: boolean,
  context: CliContext,
): Promise<void> {
  const documents: unknown[] = []
  for (const request of requests) {
    const { path, crowd } = request.target
    const outcome = await analyzePlugin({ path, cwd: context.cwd, crowd })
    if (outcome.kind === 'refused') throw preflightError(outcome.preflight)
    const estimate = paidEstimate(outcome.analysis, request, project, context.env)
    documents.push({ plugin_name: outcome.analysis.plugin_name, estimate, analysis: outcome.analysis })
    if (json) continue
    printAnalysis(outcome.analysis, context.stdout)
    printEstimateTable(estimate, context.stdout)
    context.stdout.write('\nNothing was run. The same command without --dry-run does it.\n')
  }
  if (json)
    context.stdout.write(`${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`)
}
