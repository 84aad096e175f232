import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { columnsOf, type ReportSection } from '../../report/contract.ts'
import { formatCost, formatPercent, formatRate } from '../../report/quantity.ts'
import type { ArmDifference, ArmMeasure, MeasureDifference } from '../evaluate/arms/compare-arms.ts'
import type { EvaluationSummary } from '../evaluate/metrics/create-evaluation-fold.ts'

export function armSections({ comparison }: EvaluationSummary): readonly ReportSection[] {
  return comparison.arms.length < 2 ? [] : comparison.differences.map(armSection)
}

/** What each component lost to the crowd, or a sentence when nothing was lost. null without a crowd. */
export function crowdSection({ comparison }: EvaluationSummary): ReportSection | null {
  if (comparison.crowd_losses.length === 0) return null
  const losses = comparison.crowd_losses.filter(({ lost }) => lost.length > 0)
  return {
    title: 'What the crowd costs',
    ...(losses.length === 0 && {
      lead: 'No component lost a scenario to the crowd: what fired alone also fired in the crowd.',
    }),
    columns: columnsOf('component', '>fired alone', '>in the crowd', 'taken by', 'lost in'),
    rows: losses.map((loss) => [
      loss.component,
      formatRate(loss.fired_alone),
      formatRate(loss.fired_in_crowd),
      loss.taken_by.map(({ component, count }) => `${component} (${count})`).join(', '),
      loss.lost.join(', '),
    ]),
  }
}

const titles: Readonly<Record<ArmDifference['kind'], string>> = {
  'alone-without': 'With the plugin and without',
  'crowd-alone': 'In the crowd and alone',
}

function armSection({ kind, verdict, reason, before, after, measures }: ArmDifference): ReportSection {
  return {
    title: titles[kind],
    lead: `${sentence(verdict)}: ${reason}.`,
    columns: columnsOf('measure', `>${before}`, `>${after}`, '>difference (95%)', 'verdict'),
    rows: measures.filter(hasSomethingToSay).map(measureRow),
  }
}

/** A measure that is zero in both arms, such as the cost of a script, is not shown. */
function hasSomethingToSay({ difference, before, after }: MeasureDifference): boolean {
  return difference !== null && (before !== 0 || after !== 0)
}

const names: Readonly<Record<ArmMeasure, string>> = {
  accuracy: 'right',
  grader_score: 'grader score',
  quality: 'quality',
  cost_usd: 'cost',
  turns: 'turns',
  duration_ms: 'time',
}

function measureRow(found: MeasureDifference): readonly string[] {
  const text = (value: number | null): string => (value === null ? '-' : measureText(found.measure, value))
  const more =
    found.further_scenarios === null ? '' : `, ${counted(found.further_scenarios, 'more scenario')} needed`
  return [
    names[found.measure],
    text(found.before),
    text(found.after),
    `${signed(found.measure, found.difference ?? 0)} (${signed(found.measure, found.low)} to ${signed(found.measure, found.high)})`,
    `${found.verdict.replaceAll('_', ' ')}${more}`,
  ]
}

function signed(measure: ArmMeasure, value: number): string {
  return `${value < 0 ? '-' : '+'}${measureText(measure, Math.abs(value))}`
}

function measureText(measure: ArmMeasure, value: number): string {
  switch (measure) {
    case 'accuracy':
    case 'grader_score':
      return formatPercent(value)
    case 'quality':
    case 'turns':
      return value.toFixed(1)
    case 'cost_usd':
      return formatCost(value)
    case 'duration_ms':
      return formatDuration(Math.round(value))
  }
}

function sentence(verdict: string): string {
  const text = verdict.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
