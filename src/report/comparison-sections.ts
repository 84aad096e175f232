import { amountNames } from '../core/case-facts.ts'
import { hintForNothing } from '../core/compare-facts.ts'
import type { ComparedCase, Comparison } from '../core/comparison.ts'
import { counted } from '../core/counted.ts'
import type { Ratio } from '../core/stats/compare-cases.ts'
import type { Preference } from '../core/stats/preference.ts'
import type { Rate } from '../core/summary.ts'
import { columnsOf, type ReportSection, tableSection } from './contract.ts'
import { formatPercent, formatPoints, formatRate } from './quantity.ts'
import { agentName } from './trial-sentences.ts'

const amountWords = {
  cost_usd: 'cost',
  tokens: 'tokens',
  time_ms: 'time',
  commands: 'commands',
  errors: 'errors',
} as const

const verdictWords = {
  better: 'Better',
  worse: 'Worse',
  same: 'Same',
  inconclusive: 'Cannot tell yet',
} as const

const shownTrials = 3

/** A step summary of GitHub has little room. All rows are in the JSON. */
const maxRows = 200

/** A comparison as every report shows it: the answer, what changed, and what was left out. */
export function comparisonSections(comparison: Comparison): readonly ReportSection[] {
  const { verdict, before, after, cases, left_out, regressions } = comparison
  const changed = cases.filter(isChanged)
  const looked = changed
    .slice(0, shownTrials)
    .filter((row) => row.before.trial !== null && row.after.trial !== null)
  if (comparison.pairs === 0) return nothingCompared(comparison)
  return [
    {
      title: `${verdictWords[verdict]}: B (${after.name}) against A (${before.name})`,
      lead: sentences(comparison).join(' '),
      columns: columnsOf('case', 'agent', '>A', '>B', '>p (Holm)', 'first gate that differs'),
      rows: changed
        .slice(0, maxRows)
        .map((row) => [
          row.case,
          agentName(row),
          `${row.before.passes}/${row.before.trials}`,
          `${row.after.passes}/${row.after.trials}`,
          row.p.toFixed(3),
          row.gate ?? '',
        ]),
    },
    ...preferenceSections(comparison),
    ...tableSection('Besides the pass rate', ['measure', 'change', '95% interval'], ratioRows(comparison)),
    ...tableSection(
      'Trials to look at',
      ['case', 'A', 'B'],
      looked.map((row) => [row.case, row.before.trial ?? '', row.after.trial ?? '']),
    ),
    ...tableSection(
      'Regressions',
      ['case', 'agent', 'what'],
      regressions.slice(0, maxRows).map((one) => [one.case, agentName(one), one.message]),
    ),
    ...tableSection(
      'Left out',
      ['case', 'agent', 'reason'],
      left_out.slice(0, maxRows).map((one) => [one.case, agentName(one), one.reason]),
    ),
  ]
}

/** Absent in runs of older versions. */
function preferenceSections({ preference, before, after }: Comparison): readonly ReportSection[] {
  if (preference == null) return []
  const { win_rate, wins, losses, ties, pairs, p, not_judged } = preference
  const side =
    win_rate.low > 0.5 ? `B (${after.name})` : win_rate.high < 0.5 ? `A (${before.name})` : 'neither side'
  return tableSection(
    `The judge ${preference.model} prefers ${side}`,
    ['measure', 'result'],
    [
      ['pairs', `B won ${wins}, A won ${losses}, ${counted(ties, 'tie')}`],
      ...(win_rate.value === null
        ? []
        : [['B wins, ties half', `${formatRate({ ...win_rate, n: pairs })}, p ${p.toFixed(4)}`]]),
      ...biasRows(preference),
      ...not_judged.map((each) => ['not judged', `${counted(each.pairs, 'pair')}: ${each.reason}`]),
    ],
  )
}

/** What a judge's comparisons are worth. */
export function biasRows(bias: Pick<Preference, 'order_effect' | 'first_preferred' | 'longer_wins'>) {
  const { order_effect: order, first_preferred: first, longer_wins: longer } = bias
  const of = (rate: Rate, what: string): string => `${formatRate(rate)} of ${counted(rate.n, what)}`
  const position = first.n === 0 ? '' : `; the first answer gained in ${of(first, 'such pair')}`
  return [
    ...(order.n === 0 ? [] : [['order decides', `in ${of(order, 'pair')}${position}`]]),
    ...(longer.n === 0 ? [] : [['longer wins', of(longer, 'pair')]]),
  ]
}

function nothingCompared(comparison: Comparison): readonly ReportSection[] {
  const { before, after, left_out, doubts } = comparison
  const reasons = [...new Set([...doubts, ...left_out.map(({ reason }) => reason)])]
  return [
    {
      title: `Nothing can be compared: B (${after.name}) against A (${before.name})`,
      lead: `${reasons.join('; ')}. ${hintForNothing(comparison)}`,
      columns: [],
      rows: [],
    },
  ]
}

function sentences(comparison: Comparison): readonly string[] {
  const { verdict, difference, p, pairs, unit, margin, cases, before, after } = comparison
  const chance = p < 0.0001 ? 'p below 0.0001' : `p ${p.toFixed(4)}`
  return [
    `Pass rate ${formatPoints(difference.value ?? 0)} points, 95% interval ${formatPoints(difference.low)} to ${formatPoints(difference.high)}, ${chance}.`,
    `${counted(pairs, 'case')} compared, margin ${Math.round(margin * 1000) / 10} points.`,
    ...(comparison.rounds === null
      ? unit === 'trials'
        ? ['This is about these cases only: there are too few to say it of others.']
        : []
      : [`Looked at after each of ${counted(comparison.rounds, 'round')}; interval and p allow for it.`]),
    ...(verdict === 'inconclusive' ? [moreNeeded(comparison)] : []),
    ...(cases.some(isChanged) ? [] : ['Every case passed as often on both sides.']),
    // A name such as `latest` means another run tomorrow.
    ...(before.run_id === after.run_id ? [] : [...named('A', before), ...named('B', after)]),
    ...comparison.doubts.map((doubt) => `Take care: ${doubt}.`),
  ]
}

function named(letter: string, { name, run_id }: Comparison['before']): readonly string[] {
  return name.startsWith(run_id) ? [] : [`${letter} is ${run_id}.`]
}

function moreNeeded({ needed_trials_per_case: needed }: Comparison): string {
  return needed === null
    ? 'More trials of these cases would not decide it: add cases.'
    : `About ${counted(needed, 'more trial')} per case and side would probably decide it.`
}

function isChanged({ before, after }: ComparedCase): boolean {
  return before.passes * after.trials !== after.passes * before.trials
}

function ratioRows({ metrics }: Comparison): readonly (readonly string[])[] {
  return amountNames.flatMap((amount) => {
    const ratio = metrics[amount]
    return ratio === null ? [] : [[amountWords[amount], change(ratio), intervalOf(ratio)]]
  })
}

function change({ ratio }: Ratio): string {
  return ratio === 1 ? 'none' : `${formatPercent(Math.abs(ratio - 1))} ${ratio > 1 ? 'more' : 'less'}`
}

function intervalOf({ low, high }: Ratio): string {
  return low === null
    ? 'too few cases with any'
    : `${low.toFixed(2)} to ${high === null ? 'any number of' : high.toFixed(2)} times`
}
