import { formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { escapeHtml } from '../../report/html/escape-html.ts'
import { pageStart } from '../../report/html/html.ts'
import { formatPercent } from '../../report/quantity.ts'
import type { TimelineFigure, TimelineLane } from './timeline.ts'
import type { TraceReport } from './trace-report.ts'
import {
  readable,
  traceLoopSentences,
  traceRefusalSentence,
  traceResultSentence,
  traceTimeSentences,
} from './trace-sentences.ts'

/** The report as one self-contained page: no scripts, no requests, light and dark theme. */
export function traceHtml(report: TraceReport): string {
  const { results, refusals } = report
  const stopped = refusals.reduce((sum, { denied, refused }) => sum + denied + refused, 0)
  const figures = [
    figure('Tool calls', formatCount(report.total), `${formatCount(report.tools.length)} tools`),
    figure('Failed', formatCount(results.failure), shareOf(results.failure, report.total)),
    figure('Denied or refused', formatCount(stopped), 'by the guard or a person'),
    figure(
      'Time',
      formatDuration(report.time.span_ms),
      `longest pause ${formatDuration(report.time.longest_pause_ms)}`,
    ),
  ]
  return [
    pageStart('Trace'),
    '<header class="top"><h1>Trace analysis report</h1>',
    `<p class="sentence">${escapeHtml(traceResultSentence(report))}</p>`,
    ...traceTimeSentences(report.time).map((words) => `<p class="meta">${escapeHtml(words)}</p>`),
    ...report.source.files.map((file) => `<p class="meta">${escapeHtml(file)}</p>`),
    '</header>',
    `<section class="figures" aria-label="Totals">${figures.join('')}</section>`,
    section('Suggestions', list(report.suggestions, 'next')),
    section('Timeline', timelineHtml(report.timeline)),
    section('Tool usage', tools(report)),
    section('Hot files', hotFiles(report)),
    section('Loop analysis', list([...traceLoopSentences(report), ...repeats(report)], 'next')),
    section('Verification runs', verification(report)),
    section('Failures', failures(report)),
    section('Refusals and denials', list(report.refusals.map(traceRefusalSentence), 'next')),
    '</main>\n</body>\n</html>\n',
  ].join('\n')
}

function shareOf(count: number, total: number): string {
  return total === 0 ? 'no calls' : `${formatPercent(count / total)} of all calls`
}

function figure(label: string, value: string, note: string): string {
  return `<div class="figure"><p class="label">${label}</p><p class="value">${escapeHtml(value)}</p><p class="note">${escapeHtml(note)}</p></div>`
}

function section(title: string, content: string): string {
  return `<section><h2>${title}</h2>${content}</section>`
}

function list(items: readonly string[], look: string): string {
  if (items.length === 0) return '<p class="dim">None.</p>'
  return `<div class="${look}"><ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join('')}</ul></div>`
}

function repeats({ loops }: TraceReport): readonly string[] {
  return loops.repeats.map(({ calls, times }) => `repeated ${times} times: ${calls.join(', then ')}`)
}

type Column<Row> = readonly [title: string, text: (row: Row) => string, look?: 'number']

function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  if (rows.length === 0) return '<p class="dim">None.</p>'
  const head = columns.map(([title, , look = '']) => `<th scope="col" class="${look}">${title}</th>`)
  const body = rows.map((row) => {
    const [name = '', ...others] = columns.map(([, text, look = ''], index) =>
      index === 0 ? escapeHtml(text(row)) : `<td class="${look}">${escapeHtml(text(row))}</td>`,
    )
    return `<tr><th scope="row">${name}</th>${others.join('')}</tr>`
  })
  return `<div class="use"><div class="scroll"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table></div></div>`
}

function count<Row>(title: string, of: (row: Row) => number): Column<Row> {
  return [title, (row) => formatCount(of(row)), 'number']
}

function tools({ tools: all }: TraceReport): string {
  return table(all.slice(0, 50), [
    ['Tool', ({ tool }) => tool],
    count('Calls', ({ calls }) => calls),
    ['Share', ({ share }) => formatPercent(share), 'number'],
    count('Failed', ({ failures: failed }) => failed),
    count('Denied', ({ denials }) => denials),
    ['Time', ({ duration_ms: ms }) => (ms === null ? '–' : formatDuration(ms)), 'number'],
  ])
}

function hotFiles({ hot_files: files }: TraceReport): string {
  return table(files, [
    ['File', ({ path }) => path],
    count('Edits', ({ edits }) => edits),
    count('Most before green', ({ most_before_green: most }) => most),
    ['', ({ potential_loop: flagged }) => (flagged ? 'potential loop' : '')],
  ])
}

function verification({ verification: all }: TraceReport): string {
  return table(all, [
    ['Command', ({ command }) => command],
    ['Kind', ({ kind }) => kind],
    count('Runs', ({ runs }) => runs),
    count('Passed', ({ passed }) => passed),
    count('Failed', ({ failed }) => failed),
  ])
}

function failures({ failures: found }: TraceReport): string {
  return table(found, [['Call', ({ call }) => call], count('Times', ({ count: times }) => times)])
}

/** One lane per tool, time from left to right. Uses SVG attributes only, because the page allows no inline styles. */
function timelineHtml(figure: TimelineFigure): string {
  if (figure.lanes.length === 0) return '<p class="dim">The records have no times.</p>'
  const rows = figure.lanes.map(
    (lane) =>
      `<tr><th scope="row">${escapeHtml(lane.name)}</th><td class="number">${formatCount(lane.calls)}</td><td>${laneSvg(lane, figure)}</td></tr>`,
  )
  const from = readable(new Date(figure.startMs).toISOString())
  const span = formatDuration(figure.slots * figure.slotMs)
  return `<div class="use"><div class="scroll"><table><thead><tr><th scope="col">Tool</th><th scope="col" class="number">Calls</th><th scope="col">${escapeHtml(from)}, then ${span}</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></div></div>
<div class="verdicts"><ul>${legend.map(([look, words]) => `<li><span class="dot ${look}"></span>${words}</li>`).join('')}</ul></div>`
}

const legend = [
  ['pass', 'succeeded'],
  ['fail', 'failed'],
  ['infra', 'denied or refused'],
  ['notrun', 'end unknown'],
] as const

/** Failures and denials are drawn on top, with a minimum width. */
function laneSvg({ name, calls, marks }: TimelineLane, { slots, slotMs, startMs }: TimelineFigure): string {
  const width = Math.max(1, slots)
  const most = marks.reduce((peak, mark) => Math.max(peak, sumOf(mark)), 1)
  const shapes = marks.map((mark) => {
    const bad = [
      ...(mark.failure > 0 ? [['fail', mark.failure] as const] : []),
      ...(mark.denied > 0 ? [['infra', mark.denied] as const] : []),
    ]
    const calm = mark.success > 0 ? 'pass' : 'notrun'
    const height = 12 * Math.sqrt(sumOf(mark) / most)
    const base =
      mark.success + mark.unknown > 0
        ? `<rect class="${calm}" x="${mark.slot}" y="${(12 - height).toFixed(1)}" width="1" height="${height.toFixed(1)}"/>`
        : ''
    const at = readable(new Date(startMs + mark.slot * slotMs).toISOString())
    const markWidth = Math.max(1, width / 200).toFixed(2)
    const above = bad.map(
      ([look, count]) =>
        `<rect class="${look}" x="${mark.slot}" y="0" width="${markWidth}" height="12"><title>${escapeHtml(at)}: ${formatCount(count)} ${look === 'fail' ? 'failed' : 'denied or refused'}</title></rect>`,
    )
    return { base, above: above.join('') }
  })
  const drawn = shapes.map(({ base }) => base).join('') + shapes.map(({ above }) => above).join('')
  return `<svg class="verdict-bar" viewBox="0 0 ${width} 12" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(name)}: ${formatCount(calls)}">${drawn}</svg>`
}

function sumOf({ success, failure, denied, unknown }: TimelineLane['marks'][number]): number {
  return success + failure + denied + unknown
}
