import type { Rate } from '../../core/summary.ts'
import { formatRate } from '../quantity.ts'

/** A rate as a dot on a track with its interval around it. SVG attributes, because the page allows no inline styles. */
export function intervalBar(rate: Rate): string {
  if (rate.value === null) return `<svg class="interval" aria-hidden="true">${track}</svg>`
  const x = (share: number): string => `${(4 + 92 * Math.min(1, Math.max(0, share))).toFixed(1)}%`
  const range = `<line class="range" x1="${x(rate.low)}" y1="5" x2="${x(rate.high)}" y2="5"/>`
  const point = `<circle class="point" cx="${x(rate.value)}" cy="5" r="3.5"/>`
  return `<svg class="interval" role="img" aria-label="${formatRate(rate)}">${track}${range}${point}</svg>`
}

const track = '<line class="track" x1="4%" y1="5" x2="96%" y2="5"/>'
