import { formatDuration } from '../../src/core/duration.ts'
import { formatInterval, formatPercent, formatPoints } from '../../src/report/quantity.ts'

export function percent(value: number | null | undefined): string {
  return value == null ? '–' : formatPercent(value)
}

/** `42-93%`, or a dash when it is not known. */
export function interval({
  low,
  high,
}: {
  readonly low: number | null
  readonly high: number | null
}): string {
  return low === null || high === null ? '–' : formatInterval({ low, high })
}

export const points = formatPoints

export function usd(value: number | null | undefined): string {
  if (value == null) return '–'
  if (value === 0) return '$0'
  return value < 0.01 ? '<$0.01' : `$${value.toFixed(value < 10 ? 2 : 1)}`
}

export function duration(ms: number | null | undefined): string {
  return ms == null ? '–' : formatDuration(ms)
}

export function count(value: number, word: string, plural = `${word}s`): string {
  return `${value.toLocaleString('en-US')} ${value === 1 ? word : plural}`
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`
  return value < 1_048_576 ? `${(value / 1_024).toFixed(1)} kB` : `${(value / 1_048_576).toFixed(1)} MB`
}

/** `14:03` today, `12 Nov 14:03` this year. */
export function time(iso: string | null | undefined, withSeconds = false): string {
  if (iso == null || iso === '') return '–'
  const date = new Date(iso)
  const today = new Date().toDateString() === date.toDateString()
  const clock = date.toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds && { second: '2-digit' }),
  })
  if (today) return clock
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  return `${day}${date.getFullYear() === new Date().getFullYear() ? '' : ` ${date.getFullYear()}`} ${clock}`
}

/** `agent`, or `agent/model` when the model is named. */
export function agentName({ agent, model }: { readonly agent: string; readonly model: string }): string {
  return model === 'default' || model === '' ? agent : `${agent}/${model}`
}
