import { join } from 'node:path'
import { textInside } from '../io/read-text-inside.ts'
import type { Store } from '../store/contract.ts'
import type { TaskRecord } from '../store/queue/contract.ts'

/** Reports of a task in its run directory; null for missing ones. */
export type TaskReports = ReturnType<typeof taskReports>

export function taskReports(store: Store, { task_run_id }: TaskRecord) {
  const read = (name: string): string | null =>
    task_run_id === null ? null : textInside(join(store.runsDir, task_run_id), join('reports', name))
  return {
    summary: read('summary.md'),
    stuckReport: read('stuck_report.md'),
    /** The complete change or proposal, for `git apply`. For a running or stuck task see `lastDiff`. */
    diff: read('proposal.patch') ?? read('changes.patch'),
  }
}
