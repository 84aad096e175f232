import { counted, formatCount } from '../../core/counted.ts'
import type { RunSummary } from '../../core/summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { columnsOf, type FinishedRun, type ReportSection, tableSection } from '../../report/contract.ts'
import { formatCost, formatPercent, formatRate } from '../../report/quantity.ts'
import type { Analysis } from '../analyze/contract.ts'
import { componentId, componentsById } from '../component-list.ts'
import type { EvaluationSummary } from '../evaluate/metrics/create-evaluation-fold.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { armSections, crowdSection } from './arm-sections.ts'
import { changeSection, likelyCause } from './change-section.ts'

export interface EvaluationFacts {
  readonly runId: string
  readonly summary: EvaluationSummary
  readonly analysis: AnalysisFacts
  readonly scenarios: readonly PluginScenario[]
  /** Why the budget did not allow trials; empty when it did. */
  readonly notRunWhy?: readonly string[]
}

/** What reporters get of an evaluation besides its trials: tables, likely causes, and next steps. */
export function evaluationView(
  { counts, notRun }: Pick<RunSummary, 'counts' | 'notRun'>,
  { runId, summary, analysis, scenarios, notRunWhy = [] }: EvaluationFacts,
): Pick<FinishedRun, 'sections' | 'nextSteps' | 'showCases' | 'diagnose'> {
  return {
    sections: evaluationSections(summary, analysis),
    diagnose: diagnosis(analysis, scenarios),
    nextSteps: [
      // Everything that has run is kept.
      ...(notRun > 0
        ? [`Continue with: gantry plugin resume ${runId}${notRunWhy.length > 0 ? ' --max-cost-usd USD' : ''}`]
        : []),
      ...(summary.needs_recording.length > 0 ? ['Record what changed: run it again with --replay auto'] : []),
      ...(counts.fail + counts.infra > 0
        ? [`After a fix, run the failed scenarios again: gantry plugin run --fast --failed-run ${runId}`]
        : []),
    ],
    // With one trial per scenario and arm the table would only repeat the failures.
    showCases: summary.repetition_stats !== null,
  }
}

/** Only for component triggers: graders explain their results themselves. */
function diagnosis(
  { components }: AnalysisFacts,
  scenarios: readonly PluginScenario[],
): (trial: TrialRecord) => readonly string[] {
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const known = componentsById(components)
  return ({ verdict, gates, case: id }) => {
    const scenario = byId.get(id)
    const hasMissed = gates.some(({ type, passed }) => type === 'component_triggered' && !passed)
    if (verdict !== 'fail' || !hasMissed || scenario === undefined) return []
    const found = known.get(componentId(scenario.component_type, scenario.component_ref))
    return found === undefined ? [] : [likelyCause(scenario, found)]
  }
}

type AnalysisFacts = Pick<Analysis, 'components' | 'findings' | 'listing'>

/** The sections of an evaluation besides its trials, most useful first. Empty sections are omitted. */
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
  ].flatMap((section) => section ?? [])
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
    columns: columnsOf(
      ...['component', '>recall', '>precision', '>missed', '>wrongly'],
      ...(isJudged ? ['>quality'] : []),
    ),
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
function firedInsteadSection({ confusion }: EvaluationSummary): readonly ReportSection[] {
  const rows = confusion.flatMap(({ expected, fired }) =>
    fired
      .filter(({ component }) => component !== expected)
      .map(({ component, count, scenarios }) => [
        componentText(expected),
        String(count),
        `${componentText(component)} in ${scenarios.join(', ')}`,
      ]),
  )
  return tableSection('What fired instead', ['expected', '>trials', 'fired, and where'], rows)
}

function componentText(component: string): string {
  return component === 'none' ? 'nothing' : component
}

/** Trials whose cassette does not match the agent's requests. */
function recordingSection({ needs_recording }: EvaluationSummary): readonly ReportSection[] {
  const lead =
    'No recording matches the requests that the agent sends to its model now. The plugin, the scenario or the agent has changed, or the trial was never recorded. Run with --replay auto, or with --replay record to record every trial.'
  const rows = needs_recording.map((trial) => [trial])
  return tableSection('Trials to record again', ['trial'], rows, lead)
}

function flakySection({ repetition_stats: repeated }: EvaluationSummary): readonly ReportSection[] {
  if (repeated === null) return []
  const lead = `${formatPercent(repeated.consistency_rate)} of the repeated scenarios always ended the same way.`
  const rows = repeated.flaky_scenarios.map((one) => [one.scenario_id, `${one.passed}`, `${one.trials}`])
  return tableSection('Flaky scenarios', ['scenario', '>passed', '>of'], rows, lead)
}

function scenarioKindSection({ by_scenario_type }: EvaluationSummary): readonly ReportSection[] {
  const rows = Object.entries(by_scenario_type).map(([type, metrics]) => [
    type,
    formatRate(metrics.accuracy),
    formatRate(metrics.trigger_rate),
    String(metrics.scenarios_count),
  ])
  return rows.length < 2
    ? []
    : tableSection('Kinds of scenarios', ['kind', '>right', '>fired', '>scenarios'], rows)
}

function semanticSection({ semantic_stats: stats }: EvaluationSummary): readonly ReportSection[] {
  if (stats === null) return []
  const rows = Object.entries(stats.by_variation).map(([name, { count, trigger_rate }]) => [
    name,
    formatRate(trigger_rate),
    String(count),
  ])
  const lead = `Fired in ${formatRate(stats.trigger_rate)} of ${counted(stats.total, 'trial')} with a rephrased request.`
  return tableSection('Rephrased requests', ['variation', '>fired', '>trials'], rows, lead)
}

/** Findings of the analysis. Findings of severity info are shown only by `gantry plugin analyze`. */
function findingSection({ findings, listing }: Pick<Analysis, 'findings' | 'listing'>): ReportSection | null {
  const worth = findings.filter(({ severity }) => severity !== 'info')
  const hidden = listing.entries.filter(({ shown }) => shown !== 'whole').length
  if (worth.length === 0 && hidden === 0) return null
  return {
    title: 'Findings in the files',
    lead: `${hidden === 0 ? '' : `${counted(hidden, 'description')} would be cut or dropped from the listing that the model sees. `}What to do about each: gantry plugin analyze.`,
    columns: columnsOf('finding', 'severity', 'message'),
    rows: worth.map(({ code, severity, message }) => [code, severity, message]),
  }
}

/** The ledger: what was paid, and the list price of the same tokens. A script or a recording costs nothing. */
function costSection({ costs, cache_stats: cache, comparison }: EvaluationSummary): ReportSection | null {
  const unmetered =
    costs.unmetered_trials > 0 ? ` Unknown for ${counted(costs.unmetered_trials, 'trial')}.` : ''
  // A run of an older version has no ledger.
  const { ledger = [], list_price_usd: listed = 0, total_cost_usd: total } = costs
  if (total === 0 && listed === 0 && unmetered === '') return null
  // The tokens of what was lost in an older version, or before its agent reported them, are unknown.
  const isWhole = ledger.every(({ paid_usd, list_usd }) => list_usd !== null || (paid_usd ?? 0) === 0)
  const would =
    listed === 0
      ? ''
      : ` At list price ${isWhole ? 'the same' : 'the known'} tokens ${total === 0 ? 'would cost' : 'cost'} ${formatCost(listed)}.`
  if (total === 0)
    return { title: 'Cost', lead: `Nothing was paid.${would}${unmetered}`, columns: [], rows: [] }
  const read =
    cache.hit_rate === null || cache.hit_rate === 0
      ? ''
      : ` ${formatPercent(cache.hit_rate)} of the input came from the cache${saved(cache.savings_usd)}.`
  const hasArms = comparison.arms.length > 1
  return {
    title: 'Cost',
    lead: `${formatCost(total)} in total.${would}${unmetered}${read}`,
    columns: columnsOf('for', 'model', '>tokens in', '>tokens out', '>paid', '>list price'),
    rows: [
      ...ledger.map(({ stage, kind, arm, model, tokens, paid_usd, list_usd }) => [
        `${stage}: ${kind === 'lost' ? 'not in the results' : kind.replaceAll('_', ' ')}${hasArms && arm !== null ? `, ${arm}` : ''}`,
        model ?? '',
        tokens === null ? '-' : formatCount(tokens.input + tokens.cacheRead + tokens.cacheWrite),
        tokens === null ? '-' : formatCount(tokens.output),
        formatCost(paid_usd),
        list_usd === null ? '-' : formatCost(list_usd),
      ]),
      ['total', '', '', '', formatCost(total), formatCost(listed)],
    ],
  }
}

function saved(usd: number | null): string {
  return usd === null || usd <= 0 ? '' : `, which saved ${formatCost(usd)}`
}
