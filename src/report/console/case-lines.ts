import type { CaseSummary } from '../../core/summary.ts'
import type { Verdict } from '../../core/verdict.ts'
import { textTable } from '../text-table.ts'
import { shortenMiddle } from '../text-width.ts'
import { agentName } from '../trial-words.ts'
import { type CaseColumn, flakyTitle } from './case-columns.ts'
import type { Palette } from './palette.ts'

export interface CaseLines {
  readonly lines: readonly string[]
  /** The columns that are shown, by title. */
  readonly titles: readonly string[]
  /** Those for which there was no room; never the agent, which then stands above its cases. */
  readonly left: readonly string[]
}

/** Cases as a table that fits the terminal, each row behind a mark when it has one. */
export function caseLines(
  rows: readonly CaseSummary[],
  wanted: readonly CaseColumn[],
  view: {
    readonly columns: number
    readonly palette: Palette
    readonly markOf?: (row: CaseSummary) => Verdict
  },
): CaseLines {
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
    titles: table.titles,
    left: left.filter((title) => title !== 'agent' && title !== flakyTitle),
  }
}
