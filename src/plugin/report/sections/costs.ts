import { counted } from '../../../core/counted.ts'
import type { ReportSection } from '../../../report/contract.ts'
import { formatCost, formatPercent } from '../../../report/quantity.ts'
import type { CostSummary, EvaluationSummary } from '../../evaluate/metrics/evaluation-summary.ts'

/** What was spent, by stage and model. A script or a recording costs nothing, whatever its tokens would. */
export function costSection({ costs, cache_stats: cache }: EvaluationSummary): ReportSection | null {
  const unmetered =
    costs.unmetered_trials > 0 ? ` Not known of ${counted(costs.unmetered_trials, 'trial')}.` : ''
  if (costs.total_cost_usd === 0) {
    const listed = listPrice(costs)
    if (listed === 0 && unmetered === '') return null
    const would = listed === 0 ? '' : ` At list price the same tokens would cost ${formatCost(listed)}.`
    return { title: 'Cost', lead: `Nothing was paid.${would}${unmetered}`, columns: [], rows: [] }
  }
  const read =
    cache.hit_rate === null || cache.hit_rate === 0
      ? ''
      : ` ${formatPercent(cache.hit_rate)} of the input came from the cache${saved(cache.savings_usd)}.`
  return {
    title: 'Cost',
    lead: `${formatCost(costs.total_cost_usd)} in all.${unmetered}${read}`,
    columns: [{ title: 'for' }, { title: 'cost', align: 'right' }],
    rows: [
      ['generation', formatCost(costs.generation_cost_usd)],
      ['execution', formatCost(costs.execution_cost_usd)],
      ['evaluation', formatCost(costs.evaluation_cost_usd)],
      ...costs.by_model.map(({ model, stage, cost_usd }) => [
        `${stage}, ${model} at list price`,
        formatCost(cost_usd),
      ]),
    ],
  }
}

function saved(usd: number | null): string {
  return usd === null || usd <= 0 ? '' : `, which saved ${formatCost(usd)}`
}

function listPrice({ by_model: models }: CostSummary): number {
  return models.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
}
