import { GantryError } from './error.ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Milliseconds of `500ms`, `90s`, `20m`, `1.5h` or `30d`; null for anything else. The unit is required, because a bare `30` is ambiguous.
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  if (match === null) return null
  const durationMs = Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs])
  return Number.isSafeInteger(durationMs) ? durationMs : null
}

/** The same for a flag. Throws GantryError USAGE with the name of the flag. */
export function parseDurationFlag(flag: string, text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs !== null) return durationMs
  const bare = /^\d+(\.\d+)?$/.test(text.trim())
  const example = bare ? text.trim() : '30'
  throw new GantryError(
    'USAGE',
    `${flag} ${JSON.stringify(text)} is not a duration${bare ? ': its unit is missing' : ''}`,
    {
      hint: `Write a number and a unit: ${example}d, ${example}h, ${example}m, ${example}s or ${example}ms.`,
    },
  )
}

/** For people: `340ms`, `4.2s`, `2m 5s`, `1h 30m`, `3d 4h`. Two units at most. */
export function formatDuration(durationMs: number): string {
  const whole = Math.max(0, Math.round(durationMs))
  if (whole < unitMs.s) return `${whole}ms`
  // Round before choosing the unit, so 59.96 s becomes a minute and not 60.0 s.
  const tenths = Math.round(whole / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)}s`
  const seconds = Math.round(whole / unitMs.s)
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), 'm', seconds % 60, 's')
  const minutes = Math.round(whole / unitMs.m)
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'm')
  const hours = Math.round(whole / unitMs.h)
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

/** In whole seconds, for a text that is redrawn: tenths that change every time are unreadable. */
export function formatElapsed(durationMs: number): string {
  const seconds = Math.round(durationMs / unitMs.s)
  return seconds < 60 ? `${seconds}s` : formatDuration(seconds * unitMs.s)
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`
}
