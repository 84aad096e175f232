import { formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { escapeHtml } from '../../report/html/escape-html.ts'
import { pageStart } from '../../report/html/html.ts'
import { formatPercent } from '../../report/quantity.ts'
import type { TimelineFigure, TimelineLane } from './timeline.ts'
import type { TraceReport } from './trace-report.ts'
import { loopSentences, readable, refusalWords, resultWords, timeWords } from './trace-words.ts'

/** The report as one page that needs nothing but itself: no script, no request, light and dark by the reader's setting. */
export function traceHtml(report: TraceReport): string {
  const { results } = report
  const figures = [
    figure('Tool calls', formatCount(report.total), `${formatCount(report.tools.length)} tools`),
    figure('Failed', formatCount(results.failure), shareOf(results.failure, report.total)),
    figure('Denied or refused', formatCount(stopped(report)), 'by the guard or a person'),
    figure(
      'Time',
      formatDuration(report.time.span_ms),
      `longest pause ${formatDuration(report.time.longest_pause_ms)}`,
    ),
  ]
  return [
    pageStart('Trace'),
    '<header class="top"><h1>Trace analysis report</h1>',
    `<p class="sentence">${escapeHtml(resultWords(report))}</p>`,
    ...timeWords(report.time).map((words) => `<p class="meta">${escapeHtml(words)}</p>`),
    ...report.source.files.map((file) => `<p class="meta">${escapeHtml(file)}</p>`),
    '</header>',
    `<section class="figures" aria-label="Totals">${figures.join('')}</section>`,
    section('Suggestions', list(report.suggestions, 'next')),
    section('Timeline', timelineHtml(report.timeline)),
    section('Tool usage', tools(report)),
    section('Hot files', hotFiles(report)),
    section('Loop analysis', list([...loopSentences(report), ...repeats(report)], 'next')),
    section('Verification runs', verification(report)),
    section('Failures', failures(report)),
    section('Refusals and denials', list(report.refusals.map(refusalWords), 'next')),
    '</main>\n</body>\n</html>\n',
  ].join('\n')
}

function stopped({ refusals }: TraceReport): number {
  return refusals.reduce((sum, { denied, refused }) => sum + denied + refused, 0)
}

function shareOf(count: number, total: number): string {
  return total === 0 ? 'of none' : `${formatPercent(count / total)} of all calls`
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
  return loops.repeats.map(({ calls, times }) => `${times} times round: ${calls.join(', then ')}`)
}

type Cell = readonly [text: string, look: '' | 'number']

function table(titles: readonly Cell[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '<p class="dim">None.</p>'
  const head = titles.map(([title, look]) => `<th scope="col" class="${look}">${title}</th>`)
  const body = rows.map((cells) => {
    const [[name] = [''], ...rest] = cells
    const others = rest.map(([text, look]) => `<td class="${look}">${escapeHtml(text)}</td>`)
    return `<tr><th scope="row">${escapeHtml(name)}</th>${others.join('')}</tr>`
  })
  return `<div class="use"><div class="scroll"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table></div></div>`
}

function tools({ tools: all }: TraceReport): string {
  return table(
    [
      ['Tool', ''],
      ['Calls', 'number'],
      ['Share', 'number'],
      ['Failed', 'number'],
      ['Denied', 'number'],
      ['Time', 'number'],
    ],
    all.slice(0, 50).map(({ tool, calls, share, failures: failed, denials, duration_ms: ms }) => [
      [tool, ''],
      [formatCount(calls), 'number'],
      [formatPercent(share), 'number'],
      [formatCount(failed), 'number'],
      [formatCount(denials), 'number'],
      [ms === null ? '–' : formatDuration(ms), 'number'],
    ]),
  )
}

function hotFiles({ hot_files: files }: TraceReport): string {
  return table(
    [
      ['File', ''],
      ['Edits', 'number'],
      ['Most before green', 'number'],
      ['', ''],
    ],
    files.map(({ path, edits, most_before_green: most, potential_loop: flagged }) => [
      [path, ''],
      [formatCount(edits), 'number'],
      [formatCount(most), 'number'],
      [flagged ? 'potential loop' : '', ''],
    ]),
  )
}

function verification({ verification: runs }: TraceReport): string {
  return table(
    [
      ['Command', ''],
      ['Kind', ''],
      ['Runs', 'number'],
      ['Passed', 'number'],
      ['Failed', 'number'],
    ],
    runs.map(({ command, kind, runs: count, passed, failed }) => [
      [command, ''],
      [kind, ''],
      [formatCount(count), 'number'],
      [formatCount(passed), 'number'],
      [formatCount(failed), 'number'],
    ]),
  )
}

function failures({ failures: found }: TraceReport): string {
  return table(
    [
      ['Call', ''],
      ['Times', 'number'],
    ],
    found.map(({ call, count }) => [
      [call, ''],
      [formatCount(count), 'number'],
    ]),
  )
}

/** One lane per tool, time from left to right. Attributes of SVG only, because the page allows no inline styles. */
function timelineHtml(figure: TimelineFigure): string {
  if (figure.lanes.length === 0) return '<p class="dim">The records tell no time.</p>'
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

/** Marks of what went wrong stand over the others and keep a width that can be seen. */
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
