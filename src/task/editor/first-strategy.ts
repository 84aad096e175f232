import type { ParsedTask } from '../contract.ts'
import type { StuckContext } from '../reports/read-stuck-report.ts'
import type { ScoutAReport } from '../scouts/scout-a-schema.ts'

const sizes = { low: 0, medium: 1, high: 2 } as const

/** The smallest safe slice Scout A found; without one, the smallest change that meets the objective. */
export function firstStrategy(
  task: ParsedTask,
  report: ScoutAReport | null,
  stuck: StuckContext | null,
): string {
  const slice = smallestSlice(report)
  const primary = (report?.repo_map.relevant_files ?? [])
    .filter(({ relevance }) => relevance === 'primary')
    .map(({ path }) => path)
  const [goal = ''] = task.objective.split('\n')
  const what =
    slice !== null
      ? `Implement the smallest safe slice: ${slice.description} (${slice.files.join(', ') || 'files to be found'}).`
      : `Make the smallest change that meets the objective "${goal}"${primary.length === 0 ? '' : `, beginning in ${primary.join(', ')}`}.`
  const tried = stuck?.strategies ?? []
  return tried.length === 0
    ? what
    : `${what} Earlier attempts got stuck with: ${tried.join(' | ')}. Take another way than those.`
}

/** What can be changed first, is least complex, and touches the fewest files. */
export function smallestSlice(
  report: ScoutAReport | null,
): ScoutAReport['change_boundaries']['safe_slices'][number] | null {
  const slices = report?.change_boundaries.safe_slices ?? []
  const [first = null] = [...slices].sort(
    (a, b) =>
      (a.order ?? Number.MAX_SAFE_INTEGER) - (b.order ?? Number.MAX_SAFE_INTEGER) ||
      sizes[a.complexity] - sizes[b.complexity] ||
      a.files.length - b.files.length,
  )
  return first
}
