import type { Frame } from './frame.ts'

/** What a client wants to hear of. */
export interface FeedFilter {
  /** Of one task only. */
  readonly taskId?: string
  /** `detail` is everything, milestones included. */
  readonly level: 'milestone' | 'detail'
}

export function passes({ taskId, level }: FeedFilter, frame: Pick<Frame, 'taskId' | 'level'>): boolean {
  if (taskId !== undefined && taskId !== frame.taskId) return false
  return level === 'detail' || frame.level === 'milestone'
}

/** Clients with the same one get the same bytes. */
export function filterKey({ taskId, level }: FeedFilter): string {
  return `${level} ${taskId ?? ''}`
}
