import { join } from 'node:path'
import { readTextInside } from '../io/files.ts'
import type { Store } from '../store/contract.ts'
import type { TaskRecord } from '../store/queue/contract.ts'

/** Reports of a task in its run directory; null for missing ones. */
export interface TaskReports {
  readonly summary: string | null
  readonly stuckReport: string | null
  /** The complete change or proposal, for `git apply`. For a running or stuck task see `lastDiff`. */
  readonly diff: string | null
}

export function taskReports(store: Store, { task_run_id }: TaskRecord): TaskReports {
  const read = (name: string): string | null => {
    if (task_run_id === null) return null
    const found = readTextInside(join(store.runsDir, task_run_id), join('reports', name))
    return found.kind === 'text' ? found.text : null
  }
  return {
    summary: read('summary.md'),
    stuckReport: read('stuck_report.md'),
    diff: read('proposal.patch') ?? read('changes.patch'),
  }
}
