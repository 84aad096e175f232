import type { FinalState, TaskRecord } from './contract.ts'

/** What the feed says of a task that ended when nobody worked on it any more: whoever follows it must hear the end. */
export function endEvent(task: TaskRecord, state: FinalState, reason: string, at: string): object {
  const from = Date.parse(task.started_at ?? task.created_at)
  return {
    ts: Date.parse(at) / 1000,
    task_id: task.id,
    kind: 'task_ended',
    state,
    reason,
    duration_ms: Math.max(0, Date.parse(at) - from),
    run_ids: task.run_ids,
    attempts: task.current_attempt,
    replans: 0,
    cost_usd: null,
    summary: null,
    report: null,
  }
}
