import { cappedMap } from './capped-map.ts'
import type { TraceCall } from './trace-call.ts'
import type { TraceReport } from './trace-report.ts'

const maxTools = 1_000

export interface ToolCounts {
  add(call: TraceCall): void
  finish(): Pick<TraceReport, 'total' | 'results' | 'tools'>
}

export function countTools(): ToolCounts {
  const results = { success: 0, failure: 0, denied: 0, unknown: 0 }
  let total = 0
  const tools = cappedMap(
    maxTools,
    () => ({ calls: 0, failures: 0, denials: 0, durationMs: 0, timed: 0 }),
    ({ calls }) => calls,
  )
  return {
    add: ({ tool, result, durationMs }) => {
      total += 1
      results[result] += 1
      const figures = tools.at(tool)
      figures.calls += 1
      if (result === 'failure') figures.failures += 1
      if (result === 'denied') figures.denials += 1
      if (durationMs === null) return
      figures.timed += 1
      figures.durationMs += durationMs
    },
    finish: () => ({
      total,
      results,
      tools: tools
        .entries()
        .map(([tool, { calls, failures, denials, durationMs, timed }]) => ({
          tool,
          calls,
          share: calls / total,
          failures,
          denials,
          duration_ms: timed === 0 ? null : durationMs,
        }))
        .toSorted((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    }),
  }
}
