import { counted } from '../../core/counted.ts'
import type { ReportSection } from '../../report/contract.ts'
import { formatCost, formatPercent, formatRate } from '../../report/quantity.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { CostSummary, EvaluationSummary } from '../evaluate/metrics/evaluation-summary.ts'
import { armSections, crowdSection } from './arm-sections.ts'
import { changeSection } from './what-to-change.ts'

/** The parts of an analysis that the sections show. */
export type AnalysisFacts = Pick<Analysis, 'components' | 'findings' | 'listing'>

/** What an evaluation shows beyond its trials, most useful first. Empty sections are left out. */
export function evaluationSections(
  summary: EvaluationSummary,
  analysis: AnalysisFacts,
): readonly ReportSection[] {
  return [
    changeSection(summary, analysis),
    componentSection(summary),
    firedInsteadSection(summary),
    recordingSection(summary),
    ...armSections(summary),
    crowdSection(summary),
    flakySection(summary),
    scenarioKindSection(summary),
    semanticSection(summary),
    findingSection(analysis),
    costSection(summary),
  ].filter((section) => section !== null)
}

/** How often each component fired when it should, missed, and fired when it should not. Quality is shown where a judge gave it. */
function componentSection(summary: EvaluationSummary): ReportSection | null {
  const { by_component, accuracy, trigger_rate, conflicts, judge } = summary
  if (Object.keys(by_component).length === 0) return null
  const { high, medium, low } = conflicts.by_severity
  const quarrels =
    conflicts.count === 0 ? 'no conflicts' : `conflicts: ${high} high, ${medium} medium, ${low} low`
  const isJudged = judge.judged > 0
  return {
    title: 'Components',
    lead: `Right in ${formatRate(accuracy)} of trials, fired in ${formatRate(trigger_rate)}, ${quarrels}.`,
    columns: [
      { title: 'component' },
      { title: 'recall', align: 'right' },
      { title: 'precision', align: 'right' },
      { title: 'missed', align: 'right' },
      { title: 'wrongly', align: 'right' },
      ...(isJudged ? [{ title: 'quality', align: 'right' as const }] : []),
    ],
    rows: Object.entries(by_component).map(([id, metrics]) => [
      id,
      formatRate(metrics.recall),
      formatRate(metrics.precision),
      `${metrics.false_negatives} of ${metrics.false_negatives + metrics.true_positives}`,
      String(metrics.false_positives + metrics.fired_instead),
      ...(isJudged ? [metrics.avg_quality === null ? '-' : metrics.avg_quality.toFixed(1)] : []),
    ]),
  }
}

/** Off the diagonal of the confusion matrix. */
function firedInsteadSection({ confusion }: EvaluationSummary): ReportSection | null {
  const rows = confusion.flatMap(({ expected, fired }) =>
    fired
      .filter(({ component }) => component !== expected)
      .map(({ component, count, scenarios }) => [
        componentText(expected),
        String(count),
        `${componentText(component)} in ${scenarios.join(', ')}`,
      ]),
  )
  if (rows.length === 0) return null
  return {
    title: 'What fired instead',
    columns: [{ title: 'expected' }, { title: 'trials', align: 'right' }, { title: 'fired, and where' }],
    rows,
  }
}

function componentText(component: string): string {
  return component === 'none' ? 'nothing' : component
}

/** Trials whose cassette does not match the agent's requests. */
function recordingSection({ needs_recording }: EvaluationSummary): ReportSection | null {
  if (needs_recording.length === 0) return null
  return {
    title: 'Trials to record again',
    lead: 'No recording matches the requests that the agent sends to its model now. The plugin, the scenario or the agent has changed, or the trial was never recorded. Run with --replay auto, or with --replay record to record every trial.',
    columns: [{ title: 'trial' }],
    rows: needs_recording.map((trial) => [trial]),
  }
}

/** Repeated scenarios that both passed and failed. */
function flakySection({ repetition_stats }: EvaluationSummary): ReportSection | null {
  if (repetition_stats === null || repetition_stats.flaky_scenarios.length === 0) return null
  return {
    title: 'Flaky scenarios',
    lead: `${formatPercent(repetition_stats.consistency_rate)} of the repeated scenarios always ended the same way.`,
    columns: [{ title: 'scenario' }, { title: 'passed', align: 'right' }, { title: 'of', align: 'right' }],
    rows: repetition_stats.flaky_scenarios.map(({ scenario_id, passed, trials }) => [
      scenario_id,
      String(passed),
      String(trials),
    ]),
  }
}

/** How the kinds of scenarios came out, when there are several. */
function scenarioKindSection({ by_scenario_type }: EvaluationSummary): ReportSection | null {
  const rows = Object.entries(by_scenario_type).map(([type, metrics]) => [
    type,
    formatRate(metrics.accuracy),
    formatRate(metrics.trigger_rate),
    String(metrics.scenarios_count),
  ])
  if (rows.length < 2) return null
  return {
    title: 'Kinds of scenarios',
    columns: [
      { title: 'kind' },
      { title: 'right', align: 'right' },
      { title: 'fired', align: 'right' },
      { title: 'scenarios', align: 'right' },
    ],
    rows,
  }
}

/** Results of rephrased requests, by kind of variation. */
function semanticSection({ semantic_stats }: EvaluationSummary): ReportSection | null {
  if (semantic_stats === null) return null
  return {
    title: 'Rephrased requests',
    lead: `Fired in ${formatRate(semantic_stats.trigger_rate)} of ${counted(semantic_stats.total, 'trial')} with a rephrased request.`,
    columns: [
      { title: 'variation' },
      { title: 'fired', align: 'right' },
      { title: 'trials', align: 'right' },
    ],
    rows: Object.entries(semantic_stats.by_variation).map(([name, { count, trigger_rate }]) => [
      name,
      formatRate(trigger_rate),
      String(count),
    ]),
  }
}

/** Findings of the analysis. Findings of severity info are shown only by `gantry plugin analyze`. */
function findingSection({ findings, listing }: Pick<Analysis, 'findings' | 'listing'>): ReportSection | null {
  const worth = findings.filter(({ severity }) => severity !== 'info')
  const hidden = listing.entries.filter(({ shown }) => shown !== 'whole').length
  if (worth.length === 0 && hidden === 0) return null
  return {
    title: 'Findings in the files',
    lead: `${hidden === 0 ? '' : `${counted(hidden, 'description')} would be cut or dropped from the listing that the model sees. `}What to do about each: gantry plugin analyze.`,
    columns: [{ title: 'finding' }, { title: 'severity' }, { title: 'message' }],
    rows: worth.map(({ code, severity, message }) => [code, severity, message]),
  }
}

/** What was spent, by stage and model. A script or a recording costs nothing, whatever its tokens would. */
function costSection({ costs, cache_stats: cache }: EvaluationSummary): ReportSection | null {
  const unmetered =
    costs.unmetered_trials > 0 ? ` Unknown for ${counted(costs.unmetered_trials, 'trial')}.` : ''
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
    lead: `${formatCost(costs.total_cost_usd)} in total.${unmetered}${read}`,
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
