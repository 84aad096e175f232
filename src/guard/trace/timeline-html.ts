import { formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { escapeHtml } from '../../report/html/escape-html.ts'
import type { TimelineFigure, TimelineLane } from './timeline.ts'
import { readable } from './trace-words.ts'

/** One lane per tool, time from left to right. Attributes of SVG only, because the page allows no inline styles. */
export function timelineHtml(figure: TimelineFigure): string {
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
