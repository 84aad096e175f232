import type { SqliteDatabase } from '../../io/sqlite.ts'
import type { QueuedTask, TaskFilter } from './contract.ts'
import { isAbandoned } from './owner.ts'
import { recordFrom, taskColumns } from './task-row.ts'

/** Each group in the order of a database index. */
const groups = [
  `state = 'RUNNING' ORDER BY seq`,
  `state = 'QUEUED' ORDER BY seq`,
  `state NOT IN ('RUNNING', 'QUEUED') ORDER BY completed_at DESC, seq DESC`,
]

/** Running first, then queued in order, then ended, newest first. */
export function listTasks(database: SqliteDatabase, filter: TaskFilter): readonly QueuedTask[] {
  const { sql, values } = whereOf(filter)
  const limit = filter.limit ?? Number.MAX_SAFE_INTEGER
  const waiting = new Map<string, number>()
  const tasks: QueuedTask[] = []
  for (const group of groups) {
    const left = limit - tasks.length
    if (left <= 0) break
    const rows = database
      .prepare(`SELECT ${taskColumns}, owner FROM tasks WHERE ${sql} AND ${group} LIMIT ?`)
      .values(...values, left)
    for (const row of rows) {
      const task = recordFrom(row)
      const isQueued = task.state === 'QUEUED'
      const position = isQueued ? (waiting.get(task.repository) ?? 0) + 1 : null
      if (position !== null) waiting.set(task.repository, position)
      const abandoned = task.state === 'RUNNING' && isAbandoned(row.at(-1))
      tasks.push(Object.assign(task, { position, abandoned }))
    }
  }
  return tasks
}

/** A condition and its values; always true without filters. */
export function whereOf({ repository, states, except = [] }: TaskFilter) {
  const parts = [
    ...(repository === undefined ? [] : ['repository = ?']),
    ...(states === undefined ? [] : [`state IN (${states.map(() => '?').join(', ')})`]),
    ...(except.length === 0 ? [] : [`id NOT IN (${except.map(() => '?').join(', ')})`]),
  ]
  const values = [...(repository === undefined ? [] : [repository]), ...(states ?? []), ...except]
  return { sql: parts.length === 0 ? 'TRUE' : parts.join(' AND '), values }
}
