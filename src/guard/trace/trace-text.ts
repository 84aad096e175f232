import pc from 'picocolors'
import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { wrapText } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatPercent } from '../../report/quantity.ts'
import { type Column, textTable } from '../../report/text-table.ts'
import type { TraceReport } from './trace-report.ts'
import {
  traceLoopSentences,
  traceRefusalSentence,
  traceResultSentence,
  traceTimeSentences,
} from './trace-sentences.ts'

export interface TraceTextOptions {
  /** Sentences wrap at this width. */
  readonly columns: number
  /** Maximum table width; Infinity when the output is not a terminal. */
  readonly tableWidth: number
  readonly color: boolean
}

export function traceText(report: TraceReport, look: TraceTextOptions): string {
  const { bold, yellow, red, dim } = pc.createColors(look.color)
  const lines: string[] = []
  const heading = (title: string): void => void lines.push('', bold(title))
  const sentence = (text: string, first = '  ', rest = '  '): void => {
    const wrapped = wrapText(plainLine(text), Math.max(10, look.columns - first.length))
    for (const [index, line] of wrapped.entries()) lines.push(`${index === 0 ? first : rest}${line}`)
  }
  const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void => {
    const made = textTable(columns, rows, Math.max(20, look.tableWidth - 2))
    lines.push(`  ${dim(made.heading)}`, ...rows.map((row) => `  ${made.line(row)}`))
  }

  lines.push(bold('TRACE ANALYSIS REPORT'))
  for (const file of report.source.files) sentence(file, '', '')
  lines.push('', `Total tool calls: ${formatCount(report.total)}`)
  sentence(traceResultSentence(report), '', '')
  for (const words of traceTimeSentences(report.time)) sentence(words, '', '')

  heading('Tool usage')
  if (report.tools.length === 0) sentence('No calls were recorded.')
  else
    table(
      [
        { title: 'TOOL', shorten: 'middle', text: ({ tool }) => plainLine(tool) },
        { title: 'CALLS', align: 'right', text: ({ calls }) => formatCount(calls) },
        { title: 'SHARE', align: 'right', text: ({ share }) => formatPercent(share) },
        { title: 'FAILED', align: 'right', dropAt: 1, text: ({ failures }) => formatCount(failures) },
        { title: 'DENIED', align: 'right', dropAt: 2, text: ({ denials }) => formatCount(denials) },
        {
          title: 'TIME',
          align: 'right',
          dropAt: 3,
          text: ({ duration_ms: ms }) => (ms === null ? '-' : formatDuration(ms)),
        },
      ],
      report.tools.slice(0, maxTools),
    )
  if (report.tools.length > maxTools) sentence(`and ${counted(report.tools.length - maxTools, 'more tool')}`)

  heading('Hot files')
  if (report.hot_files.length === 0) sentence('No files were edited.')
  else
    table(
      [
        { title: 'FILE', shorten: 'middle', text: ({ path }) => plainLine(path) },
        { title: 'EDITS', align: 'right', text: ({ edits }) => formatCount(edits) },
        {
          title: 'BEFORE GREEN',
          align: 'right',
          dropAt: 2,
          text: ({ most_before_green: most }) => formatCount(most),
        },
        {
          title: '',
          dropAt: 1,
          text: ({ potential_loop: flagged }) => (flagged ? 'potential loop' : ''),
          paint: (text) => yellow(text),
        },
      ],
      report.hot_files,
    )

  heading('Loop analysis')
  for (const words of traceLoopSentences(report)) sentence(words)
  for (const { calls, times } of report.loops.repeats)
    sentence(`repeated ${times} times: ${calls.join(', then ')}`, '  - ', '    ')

  heading('Verification runs')
  if (report.verification.length === 0) sentence('No verification command was found.')
  else
    table(
      [
        { title: 'COMMAND', shorten: 'middle', text: ({ command }) => plainLine(command) },
        { title: 'KIND', dropAt: 2, text: ({ kind }) => kind },
        { title: 'RUNS', align: 'right', text: ({ runs }) => formatCount(runs) },
        { title: 'PASSED', align: 'right', dropAt: 1, text: ({ passed }) => formatCount(passed) },
        {
          title: 'FAILED',
          align: 'right',
          text: ({ failed }) => formatCount(failed),
          paint: (text, { failed }) => (failed > 0 ? red(text) : text),
        },
      ],
      report.verification,
    )

  heading('Failures')
  if (report.failures.length === 0) sentence('No failed calls in the log.')
  else
    table(
      [
        { title: 'CALL', shorten: 'middle', text: ({ call }) => plainLine(call) },
        { title: 'TIMES', align: 'right', text: ({ count }) => formatCount(count) },
      ],
      report.failures,
    )

  heading('Refusals and denials')
  if (report.refusals.length === 0)
    sentence(
      report.source.kind === 'ledger'
        ? 'None.'
        : 'No call was denied. Refused stops are not in this log: gantry guard trace --session latest.',
    )
  for (const refusal of report.refusals) sentence(traceRefusalSentence(refusal), '  - ', '    ')

  heading('Suggestions')
  if (report.suggestions.length === 0) sentence('None.')
  for (const suggestion of report.suggestions) sentence(suggestion, '  - ', '    ')
  return `${lines.join('\n')}\n`
}

const maxTools = 20
