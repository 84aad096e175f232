import { amountNames } from '../core/case-facts.ts'
import type { ComparedCase, Comparison } from '../core/compare-facts.ts'
import { counted } from '../core/counted.ts'
import type { Ratio } from '../core/stats/compare-cases.ts'
import { escapeMarkdown } from './md/escape-markdown.ts'
import { plainLine } from './plain-text.ts'
import { formatPercent } from './quantity.ts'
import { textTable } from './text-table.ts'
import { agentName } from './trial-sentences.ts'

const amountWords = {
  cost_usd: 'cost',
  tokens: 'tokens',
  time_ms: 'time',
  commands: 'commands',
  errors: 'errors',
} as const

const verdictWords = {
  better: 'BETTER',
  worse: 'WORSE',
  same: 'SAME',
  inconclusive: 'CANNOT TELL YET',
} as const

const shownCases = 20
const shownLeftOut = 10

/** The answer in one sentence, and what it rests on. */
function comparisonSentences(comparison: Comparison): readonly string[] {
  const { verdict, difference, p, pairs, unit, margin } = comparison
  const [before, after] = [plainLine(comparison.before.name), plainLine(comparison.after.name)]
  const interval = `${points(difference.low)} to ${points(difference.high)} points`
  return [
    `${verdictWords[verdict]}  ${after} against ${before}: pass rate ${points(difference.value ?? 0)} points (95% interval ${interval}).`,
    `p ${p < 0.0001 ? 'below 0.0001' : p.toFixed(4)}, ${counted(pairs, 'case')} compared, margin ${points(margin).replace('+', '')} points.`,
    ...(unit === 'trials' ? ['With so few cases this is about these cases only.'] : []),
    ...(verdict === 'inconclusive' ? [moreNeeded(comparison)] : []),
  ]
}

function moreNeeded({ needed_trials_per_case: needed }: Comparison): string {
  return needed === null
    ? 'More trials of these cases would not decide it: their differences vary too much. Add cases.'
    : `About ${counted(needed, 'more trial')} per case and side would probably decide it.`
}

export function comparisonLines(comparison: Comparison, width: number): readonly string[] {
  const changed = comparison.cases.filter(isChanged)
  const table = textTable<ComparedCase>(
    [
      { title: 'case', shorten: 'middle', text: (row) => plainLine(row.case) },
      { title: 'agent', shorten: 'middle', dropAt: 1, text: agentName },
      { title: 'before', align: 'right', text: ({ before }) => `${before.passes}/${before.trials}` },
      { title: 'now', align: 'right', text: ({ after }) => `${after.passes}/${after.trials}` },
      { title: 'p', align: 'right', dropAt: 2, text: (row) => row.p.toFixed(3) },
      { title: 'first gate that differs', shorten: 'end', dropAt: 3, text: ({ gate }) => gate ?? '' },
    ],
    changed.slice(0, shownCases),
    width,
  )
  const ratios = ratioLines(comparison)
  const first = changed[0]
  return [
    ...comparisonSentences(comparison),
    '',
    ...(changed.length === 0
      ? [`No case changed.`]
      : [table.heading, ...changed.slice(0, shownCases).map(table.line)]),
    ...more(changed.length, shownCases, 'changed case'),
    ...(first?.before.trial != null ? [`before: ${first.before.trial}`] : []),
    ...(first?.after.trial != null ? [`now:    ${first.after.trial}`] : []),
    ...(ratios.length === 0 ? [] : ['', ...ratios]),
    ...(comparison.left_out.length === 0 ? [] : ['', 'Left out:', ...leftOutLines(comparison)]),
    ...(comparison.regressions.length === 0
      ? []
      : [
          '',
          'Regressions:',
          ...comparison.regressions.map(
            (one) => `  ${plainLine(one.case)} (${agentName(one)}): ${one.message}`,
          ),
        ]),
  ]
}

export function comparisonMarkdown(comparison: Comparison): string {
  const [sentence = '', ...rest] = comparisonSentences(comparison)
  const rows = comparison.cases
    .filter(isChanged)
    .map(
      (row) =>
        `| ${escapeMarkdown(plainLine(row.case))} | ${escapeMarkdown(agentName(row))} | ${row.before.passes}/${row.before.trials} | ${row.after.passes}/${row.after.trials} | ${row.p.toFixed(3)} | ${escapeMarkdown(row.gate ?? '')} |`,
    )
  return [
    `## ${escapeMarkdown(sentence)}`,
    '',
    ...rest.map(escapeMarkdown),
    '',
    ...(rows.length === 0
      ? ['No case changed.']
      : [
          '| case | agent | before | now | p | first gate that differs |',
          '|---|---|---|---|---|---|',
          ...rows,
        ]),
    '',
    ...ratioLines(comparison).map((line) => `- ${escapeMarkdown(line)}`),
    ...(comparison.left_out.length === 0
      ? []
      : ['', 'Left out:', '', ...leftOutLines(comparison).map((line) => `- ${escapeMarkdown(line.trim())}`)]),
    '',
  ].join('\n')
}

function isChanged({ before, after }: ComparedCase): boolean {
  return before.passes * after.trials !== after.passes * before.trials
}

function ratioLines({ metrics }: Comparison): readonly string[] {
  return amountNames.flatMap((amount) => {
    const ratio = metrics[amount]
    return ratio === null ? [] : [`${amountWords[amount]}: ${ratioText(ratio)}`]
  })
}

function ratioText({ ratio, low, high }: Ratio): string {
  const change =
    ratio === 1 ? 'the same' : `${formatPercent(Math.abs(ratio - 1))} ${ratio > 1 ? 'more' : 'less'}`
  const interval =
    low === null || high === null ? '' : ` (95% interval ${low.toFixed(2)} to ${high.toFixed(2)} times)`
  return `${change}${interval}`
}

function leftOutLines({ left_out }: Comparison): readonly string[] {
  const lines = left_out
    .slice(0, shownLeftOut)
    .map((one) => `  ${plainLine(one.case)} (${agentName(one)}): ${plainLine(one.reason)}`)
  return [...lines, ...more(left_out.length, shownLeftOut, 'result')]
}

function more(all: number, shown: number, what: string): readonly string[] {
  return all > shown ? [`  and ${counted(all - shown, `more ${what}`)}: see --json`] : []
}

function points(share: number): string {
  const value = Math.round(share * 1000) / 10
  return value > 0 ? `+${value}` : String(value)
}
