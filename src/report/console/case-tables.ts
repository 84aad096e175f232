import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary, RunSummary } from '../../core/summary.ts'
import type { Verdict } from '../../core/verdict.ts'
import { casesWithUse, caseVerdict, passedAlways, shownK, useFigures, useLegend } from '../case-verdict.ts'
import { shortenMiddle, wrapText } from '../display-width.ts'
import { plainLine } from '../plain-text.ts'
import { formatCost, formatInterval, formatPercent, formatScore, percentAt } from '../quantity.ts'
import { type Column, textTable } from '../text-table.ts'
import { agentName } from '../trial-sentences.ts'
import type { Palette } from './palette.ts'

/** Above this, cases that always passed are only counted. */
const maxRows = 40

/** Case by agent by model: how often it passed, how sure that is, what it cost. */
export function caseTable({ cases, threshold }: RunSummary, columns: number, palette: Palette): string[] {
  if (cases.length === 0) return []
  const shown = shownRows(cases)
  const k = shownK(shown)
  const { lines, titles, left } = caseLines(shown, caseColumns(shown, k, palette), {
    columns,
    palette,
    markOf: (row) => caseVerdict(row, threshold),
  })
  const body = [...lines, ...rest(cases, shown).map(palette.dim)]
  return titled('Cases', body, [...legend(titles, k), ...notShown(left)], columns, palette)
}

/** A title, the lines of a table, and sentences below it. */
function titled(
  title: string,
  lines: readonly string[],
  sentences: readonly string[],
  columns: number,
  { bold, dim }: Palette,
): string[] {
  const below = sentences.flatMap((sentence) => wrapText(sentence, columns - 3))
  return ['', bold(title), '', ...lines, ...below.map((line) => dim(`  ${line}`))]
}

function notShown(left: readonly string[]): string[] {
  return left.length > 0 ? [`Not shown (terminal too narrow): ${left.join(', ')}`] : []
}

/** The rows to show: all if there are few, otherwise those that did not always pass. */
function shownRows(cases: readonly CaseSummary[]): readonly CaseSummary[] {
  const crowded = cases.length > maxRows
  return (crowded ? cases.filter((row) => !passedAlways(row)) : cases).slice(0, maxRows)
}

function rest(cases: readonly CaseSummary[], shown: readonly CaseSummary[]): string[] {
  const hidden = cases.length - shown.length
  if (hidden === 0) return []
  const passed = cases.filter(passedAlways).length
  const what =
    hidden === passed ? `${counted(passed, 'row')} where every trial passed` : counted(hidden, 'more row')
  return [`  ${shown.length === 0 ? '' : 'and '}${what}`]
}

function legend(titles: readonly string[], k: number): string[] {
  const [once, always] = [titles.includes(`pass@${k}`), titles.includes(`pass^${k}`)]
  return [
    ...(titles.includes('interval') ? ['interval: 95% confidence interval of the pass rate.'] : []),
    ...(once ? [`pass@${k}: at least one of ${k} tries passes. pass^${k}: all ${k} do.`] : []),
    ...(always && !once ? [`pass^${k}: all of ${k} tries pass.`] : []),
    ...(titles.includes(flakyTitle) ? ['flaky: the same case both passed and failed.'] : []),
  ]
}

export type CaseColumn = Column<CaseSummary>

/** The rows contain the word itself. */
const flakyTitle = ''

/** Case and agent. The agent is dropped first when there is no room: it is then shown above its cases. */
const nameColumns: readonly CaseColumn[] = [
  { title: 'case', shorten: 'middle', text: (row) => plainLine(row.case) },
  { title: 'agent', shorten: 'middle', maxWidth: 24, dropAt: 9, text: agentName },
]

/** The figures of cases. Columns without any value are omitted. */
function caseColumns(rows: readonly CaseSummary[], k: number, { warn }: Palette): CaseColumn[] {
  const column = (
    title: string,
    dropAt: number | null,
    cellOf: (row: CaseSummary) => string | null,
  ): CaseColumn[] => {
    const cell = (row: CaseSummary): string | null => (row.passRate.n === 0 ? null : cellOf(row))
    if (rows.every((row) => cell(row) === null)) return []
    return [{ title, align: 'right', ...(dropAt !== null && { dropAt }), text: (row) => cell(row) ?? '-' }]
  }
  return [
    ...nameColumns,
    ...column('pass', null, ({ counts, passRate }) => `${counts.pass}/${passRate.n}`),
    ...column('rate', null, ({ passRate }) => formatPercent(passRate.value ?? 0)),
    ...column('interval', 1, ({ passRate }) => formatInterval(passRate)),
    ...(k > 1 ? column(`pass@${k}`, 7, ({ passAtK }) => percentAt(passAtK, k)) : []),
    ...(k > 1 ? column(`pass^${k}`, 6, ({ passHatK }) => percentAt(passHatK, k)) : []),
    ...column('score', 4, ({ meanScore }) => (meanScore === null ? null : formatScore(meanScore))),
    ...column('cost', 3, ({ meanCostUsd }) => (meanCostUsd === null ? null : formatCost(meanCostUsd))),
    ...column('time', 5, ({ meanDurationMs }) => formatDuration(meanDurationMs)),
    ...(rows.some((row) => row.flaky)
      ? [
          {
            title: flakyTitle,
            dropAt: 2,
            text: (row: CaseSummary) => (row.flaky ? 'flaky' : ''),
            paint: warn,
          },
        ]
      : []),
  ]
}

/** Cases as a table that fits the terminal. Rows begin with a mark when they have one. */
function caseLines(
  rows: readonly CaseSummary[],
  wanted: readonly CaseColumn[],
  view: {
    readonly columns: number
    readonly palette: Palette
    readonly markOf?: (row: CaseSummary) => Verdict
  },
) {
  const { columns, palette, markOf } = view
  if (rows.length === 0) return { lines: [], titles: [], left: [] }
  const table = textTable(wanted, rows, columns - 3, palette.ellipsis)
  const line = (row: CaseSummary): string =>
    `${markOf === undefined ? ' ' : palette.mark(markOf(row))} ${table.line(row)}`
  const left = wanted.map(({ title }) => title).filter((title) => !table.titles.includes(title))
  const body = left.includes('agent')
    ? [...Map.groupBy(rows, agentName)].flatMap(([agent, group]) => [
        `  ${palette.bold(`${shortenMiddle(agent, columns - 4, palette.ellipsis)}:`)}`,
        ...group.map(line),
      ])
    : rows.map(line)
  return {
    lines: [`  ${palette.dim(table.heading)}`, ...body],
    /** The columns that are shown, by title. */
    titles: table.titles,
    /** Columns that did not fit; never the agent, which is then shown above its cases. */
    left: left.filter((title) => title !== 'agent' && title !== flakyTitle),
  }
}

/** How the tool was used, case by agent by model, so that two wordings of guidance can be compared at a glance. */
export function useTable(cases: readonly CaseSummary[], columns: number, palette: Palette): string[] {
  const rows = casesWithUse(shownRows(cases))
  if (rows.length === 0) return []
  const { lines, titles, left } = caseLines(rows, [...nameColumns, ...figureColumns], { columns, palette })
  const sentences = [useLegend((title) => titles.includes(title)), ...notShown(left)]
  return titled('Use of the tool', lines, sentences, columns, palette)
}

const dropOrder = ['commands', 'errors', 'help', 'first try']

const figureColumns = useFigures.map(
  ({ title, text }): CaseColumn => ({
    title,
    align: 'right',
    ...(title !== 'commands' && { dropAt: dropOrder.indexOf(title) }),
    text: (row) => text(row) ?? '-',
  }),
)
