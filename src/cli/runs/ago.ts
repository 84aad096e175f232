import { formatDuration } from '../../core/duration.ts'

/** How long ago something was, in its largest unit: `3h ago`. */
export function ago(ageMs: number): string {
  const [largest = ''] = formatDuration(Math.max(0, ageMs)).split(' ')
  return `${largest} ago`
}
