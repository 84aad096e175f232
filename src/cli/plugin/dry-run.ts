import type { Project } from '../../config/load.ts'
import { analyzePlugin } from '../../plugin/analyze/analyze-plugin.ts'
import { paidEstimate } from '../../plugin/pipeline/estimate-evaluation.ts'
import type { EvaluationRequest } from '../../plugin/pipeline/evaluation-work.ts'
import { preflightError } from '../../plugin/pipeline/run-analysis.ts'
import type { CliContext } from '../context.ts'
import { printAnalysis } from './print-analysis.ts'
import { printEstimateTable } from './print-estimate.ts'

/** `--dry-run`: what would be tried and what it would cost. Makes no run and spends nothing. */
export async function dryRun(
  requests: readonly EvaluationRequest[],
  project: Project,
  json: boolean,
  context: CliContext,
): Promise<void> {
  const told: unknown[] = []
  for (const request of requests) {
    const { path, crowd } = request.target
    const outcome = await analyzePlugin({ path, cwd: context.cwd, crowd })
    if (outcome.kind === 'refused') throw preflightError(outcome.preflight)
    const estimate = paidEstimate(outcome.analysis, request, project, context.env)
    told.push({ plugin_name: outcome.analysis.plugin_name, estimate, analysis: outcome.analysis })
    if (json) continue
    printAnalysis(outcome.analysis, context.stdout)
    printEstimateTable(estimate, context.stdout)
    context.stdout.write('\nNothing was run. The same command without --dry-run does it.\n')
  }
  if (json) context.stdout.write(`${JSON.stringify(told.length === 1 ? told[0] : told, null, 2)}\n`)
}
