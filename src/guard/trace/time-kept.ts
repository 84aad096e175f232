import type { TimeFigures } from './trace-report.ts'

/** The span of a log. A clock that went back makes no negative time. */
export function keepTime(): { add(atMs: number): void; finish(): TimeFigures } {
  let firstMs: number | null = null
  let latestMs = 0
  let longestPauseMs = 0
  return {
    add: (atMs) => {
      if (firstMs === null) {
        firstMs = atMs
        latestMs = atMs
      }
      longestPauseMs = Math.max(longestPauseMs, atMs - latestMs)
      latestMs = Math.max(latestMs, atMs)
    },
    finish: () => ({
      started_at: firstMs === null ? null : new Date(firstMs).toISOString(),
      ended_at: firstMs === null ? null : new Date(latestMs).toISOString(),
      span_ms: firstMs === null ? 0 : latestMs - firstMs,
      longest_pause_ms: longestPauseMs,
    }),
  }
}
