import { callName } from './call-name.ts'
import { cappedMap } from './capped-map.ts'
import { countEditRounds } from './edit-rounds.ts'
import { countRefusals } from './refusals.ts'
import { findRepeats } from './repeats.ts'
import { suggestionsFor } from './suggestions.ts'
import { keepTime } from './time-kept.ts'
import { openTimeline } from './timeline.ts'
import { countTools } from './tool-counts.ts'
import type { TraceItem } from './trace-call.ts'
import type { TraceReport, TraceSource } from './trace-report.ts'
import { countVerification, verificationOf } from './verification.ts'

export interface TraceFold {
  add(item: TraceItem): void
  finish(source: Omit<TraceSource, 'summed_up'>): TraceReport
}

const maxFailures = 5_000
const shown = 10

/** Everything the report says, gathered one item at a time. What it keeps is bounded, whatever the length of the log. */
export function foldTrace(options: { readonly editThreshold: number }): TraceFold {
  const tools = countTools()
  const edits = countEditRounds(options.editThreshold)
  const repeats = findRepeats()
  const verification = countVerification()
  const failures = cappedMap(
    maxFailures,
    () => ({ count: 0 }),
    ({ count }) => count,
  )
  const refusals = countRefusals()
  const time = keepTime()
  const timeline = openTimeline()

  return {
    add: (item) => {
      if (item.atMs !== null) time.add(item.atMs)
      refusals.add(item)
      if (item.kind === 'refusal') {
        if (item.atMs !== null) timeline.add(item.atMs, 'refusal to stop', 'denied')
        return
      }
      tools.add(item)
      if (item.atMs !== null) timeline.add(item.atMs, item.tool, item.result)
      const run = verificationOf(item)
      if (run !== null) verification.add(run)
      edits.add(item, run?.kind === 'test' && run.result === 'passed')
      repeats.add(item)
      if (item.result === 'failure') failures.at(callName(item.tool, item.label)).count += 1
    },
    finish: (source) => {
      const { hotFiles, loops, dropped } = edits.finish(shown)
      const report: Omit<TraceReport, 'suggestions'> = {
        source: { ...source, summed_up: dropped + failures.dropped() + verification.dropped() },
        ...tools.finish(),
        hot_files: hotFiles,
        loops: { ...loops, repeats: repeats.finish(shown) },
        verification: verification.finish(shown),
        failures: failures
          .entries()
          .map(([call, { count }]) => ({ call, count }))
          .toSorted((a, b) => b.count - a.count)
          .slice(0, shown),
        time: time.finish(),
        refusals: refusals.finish(),
        timeline: timeline.finish(),
      }
      return { ...report, suggestions: suggestionsFor(report, edits.unverified()) }
    },
  }
}
