/** Epoch ms of an ISO time; null when it is none. Lines of a log stand close together: the minute is worked out once. */
export function timeOf(text: unknown): number | null {
  if (typeof text !== 'string') return null
  if (text.length !== utcLength || !text.endsWith('Z')) return parsed(text)
  const minute = text.slice(0, minuteLength)
  if (minute !== lastMinute) {
    const atMs = parsed(`${minute}00.000Z`)
    if (atMs === null) return parsed(text)
    lastMinute = minute
    lastMs = atMs
  }
  const seconds = Number(text.slice(minuteLength, -1))
  return seconds >= 0 && seconds < 60 ? lastMs + Math.round(seconds * 1000) : parsed(text)
}

const utcLength = '2026-01-01T00:00:00.000Z'.length
const minuteLength = '2026-01-01T00:00:'.length
let lastMinute = ''
let lastMs = 0

function parsed(text: string): number | null {
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : atMs
}
