import type { CaseSummary } from '../../core/summary.ts'
import { passedAlways, shownK } from '../case-rows.ts'
import { plainLine } from '../plain-text.ts'
import { counted } from '../quantity.ts'
import { displayWidth, padLeft, padRight, shortenMiddle, wrapText } from '../text-width.ts'
import { agentName } from '../trial-words.ts'
import { caseBlock } from './case-block.ts'
import { caseColumns, caseVerdict } from './case-columns.ts'
import type { Palette } from './palette.ts'

/** Above this, cases that always passed are only counted. */
const maxRows = 40
const minNameWidth = 14
const maxAgentWidth = 24
const flakyNote = '  flaky'

/**
 * Case by agent by model: how often it passed, how sure that is, what it cost. The agent has a column where there is
 * room for it, a heading where there is less, and cases become blocks of text where a table does not fit at all.
 */
export function caseTable(cases: readonly CaseSummary[], columns: number, palette: Palette): string[] {
  if (cases.length === 0) return []
  const crowded = cases.length > maxRows
  const shown = (crowded ? cases.filter((row) => !passedAlways(row)) : cases).slice(0, maxRows)
  const k = shownK(shown)
  const hidden = cases.length - shown.length
  const passed = cases.filter(passedAlways).length
  const rest =
    crowded && hidden === passed
      ? `${counted(passed, 'row')} where every trial passed`
      : counted(hidden, 'more row')
  return [
    '',
    palette.bold('Cases'),
    '',
    ...layOut(shown, k, columns, palette),
    ...(hidden > 0 ? [palette.dim(`  ${shown.length === 0 ? '' : 'and '}${rest}`)] : []),
    ...legend(shown, k, columns).map(palette.dim),
  ]
}

function layOut(rows: readonly CaseSummary[], k: number, columns: number, palette: Palette): string[] {
  if (rows.length === 0) return []
  const agentWidth = Math.min(maxAgentWidth, Math.max(...rows.map((row) => displayWidth(agentName(row)))))
  if (roomForNames(rows, k, columns) >= minNameWidth + agentWidth + 2)
    return table(rows, { k, columns, agentWidth }, palette)
  const groups = [...Map.groupBy(rows, agentName)]
  if (groups.some(([, group]) => roomForNames(group, k, columns) < minNameWidth))
    return rows.flatMap((row) => caseBlock(row, k, columns, palette))
  return groups.flatMap(([agent, group], index) => [
    ...(index > 0 ? [''] : []),
    `  ${palette.bold(shortenMiddle(agent, columns - 3, palette.ellipsis))}`,
    ...table(group, { k, columns, agentWidth: 0 }, palette),
  ])
}

function table(
  rows: readonly CaseSummary[],
  { k, columns, agentWidth }: { readonly k: number; readonly columns: number; readonly agentWidth: number },
  palette: Palette,
): string[] {
  const facts = caseColumns(rows, k)
  const names = rows.map((row) => plainLine(row.case))
  const room = roomForNames(rows, k, columns) - (agentWidth === 0 ? 0 : agentWidth + 2)
  const nameWidth = Math.min(room, Math.max(4, ...names.map(displayWidth)))
  const cell = (text: string, width: number): string =>
    width === 0 ? '' : `${padRight(shortenMiddle(text, width, palette.ellipsis), width)}  `
  const line = (name: string, agent: string, cells: readonly string[]): string =>
    cell(name, nameWidth) + cell(agent, agentWidth) + cells.join('  ')
  const titles = facts.map(({ title, width }) => padLeft(title, width))
  return [
    `  ${palette.dim(line('case', 'agent', titles))}`,
    ...rows.map((row, index) => {
      const cells = facts.map(({ cells, width }) => padLeft(cells[index] ?? '', width))
      const flaky = row.flaky ? palette.warn(flakyNote) : ''
      return `${palette.mark(caseVerdict(row))} ${line(names[index] ?? '', agentName(row), cells)}${flaky}`
    }),
  ]
}

function roomForNames(rows: readonly CaseSummary[], k: number, columns: number): number {
  const facts = caseColumns(rows, k).reduce((sum, { width }) => sum + 2 + width, 0)
  return columns - 3 - facts - (rows.some((row) => row.flaky) ? flakyNote.length : 0)
}

function legend(rows: readonly CaseSummary[], k: number, columns: number): string[] {
  const sentences = [
    ...(rows.length > 0 ? ['interval: the true rate lies in it with 95% confidence.'] : []),
    ...(k > 1 ? [`pass@${k}: at least one of ${k} tries passes. pass^${k}: all ${k} do.`] : []),
    ...(rows.some((row) => row.flaky) ? ['flaky: the same case both passed and failed.'] : []),
  ]
  return sentences.flatMap((sentence) => wrapText(sentence, columns - 3)).map((line) => `  ${line}`)
}
