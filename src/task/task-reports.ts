import { join } from 'node:path'
import { readTextInside } from '../io/files.ts'
import type { Store } from '../store/contract.ts'
import type { TaskRecord } from '../store/queue/contract.ts'

/** What a task left in its run directory for people; null for what it did not, or what was cleaned away. */
export interface TaskReports {
  readonly summary: string | null
  readonly stuckReport: string | null
  /** What it changed, or proposes to change, whole: git applies it. Of a task that runs or is stuck see `lastDiff`. */
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
