import { join } from 'node:path'
import { readTextInside } from '../io/files.ts'
import type { Store } from '../store/contract.ts'
import type { TaskRecord } from '../store/queue/contract.ts'

/** Reports of a task in its run directory; null for missing ones. */
export type TaskReports = ReturnType<typeof taskReports>

export function taskReports(store: Store, { task_run_id }: TaskRecord) {
  const read = (name: string): string | null => {
    if (task_run_id === null) return null
    const found = readTextInside(join(store.runsDir, task_run_id), join('reports', name))
    return found.kind === 'text' ? found.text : null
  }
  return {
    summary: read('summary.md'),
    stuckReport: read('stuck_report.md'),
    /** The complete change or proposal, for `git apply`. For a running or stuck task see `lastDiff`. */
    diff: read('proposal.patch') ?? read('changes.patch'),
  }
}
