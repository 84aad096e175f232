import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { newTaskId } from '../../io/ids.ts'
import { makePrivateDirectories } from '../../io/private-files.ts'
import { thisProcess } from '../../io/process-owner.ts'
import { openDatabase, type SqliteDatabase } from '../../io/sqlite.ts'
import type { Store } from '../contract.ts'
import { claimNext, endLeft } from './claim-next.ts'
import {
  type QueuedTask,
  type TaskChange,
  type TaskFilter,
  type TaskQueue,
  type TaskRecord,
  taskStates,
} from './contract.ts'
import { isAbandoned, ownerText } from './owner.ts'
import { queueSchema, queueVersion, recordFrom, recordOf, taskColumns } from './task-row.ts'

const eventsKeptMs = 14 * 86_400_000

/** Opens the queue of a store. Creates the database if needed. */
export function openQueue(store: Store): TaskQueue {
  makePrivateDirectories(store.root)
  const path = join(store.root, 'queue.db')
  const database = opened(path)
  try {
    prepareSchema(database, path)
    return taskQueue(database, store)
  } catch (error) {
    database.close()
    throw error
  }
}

/** A queue cannot be rebuilt like an index, so the hint does not suggest deleting it. */
function opened(path: string): SqliteDatabase {
  try {
    return openDatabase(path)
  } catch (cause) {
    if (!(cause instanceof GantryError && cause.code === 'CORRUPT')) throw cause
    throw new GantryError('CORRUPT', cause.message, {
      hint: 'Move it away and submit waiting tasks again. Runs and reports are not in it.',
      cause,
    })
  }
}

function taskQueue(database: SqliteDatabase, { clock }: Store): TaskQueue {
  const me = ownerText(thisProcess())
  const now = (): string => clock.now().toISOString()
  const watcher = watchDatabase(database)
  const byId = database.prepare('SELECT * FROM tasks WHERE id = ?')
  const find = (id: string): TaskRecord | null => {
    const row = byId.get(id)
    return row === undefined ? null : recordOf(row)
  }
  const require = (id: string): TaskRecord => {
    const task = find(id)
    if (task !== null) return task
    throw new GantryError('NOT_FOUND', `there is no task ${id}`, { hint: 'See them with gantry task list.' })
  }
  /** Runs an operation of the claim's holder in a transaction. */
  const asHolder = (id: string, work: () => void): TaskRecord =>
    database.transaction(() => {
      const row = byId.get(id)
      if (row === undefined) return require(id)
      if (row.state !== 'RUNNING' || row.owner !== me)
        throw new GantryError('LOCKED', `task ${id} is ${String(row.state)} and not claimed by this process`)
      work()
      return require(id)
    })
  const notifying = <T>(work: () => T): T => {
    const result = work()
    watcher.notify()
    return result
  }
  const totalChanges = database.prepare('SELECT total_changes() AS n')
  const changesMade = (): number => Number(totalChanges.get()?.n)
  const insertEvent = database.prepare(
    'INSERT INTO events (task_id, level, event) VALUES (?, ?, ?) RETURNING id',
  )
  return {
    submit: (task) =>
      notifying(() =>
        database.transaction(() => {
          const insert = database.prepare(
            `INSERT INTO tasks (id, repository, description, state, created_at, dry_run, verbose, options)
             VALUES (?, ?, ?, 'QUEUED', ?, ?, ?, ?)`,
          )
          let id = task.id ?? newTaskId(clock)
          while (find(id) !== null) id = newTaskId(clock)
          const { repository, description, dryRun, verbose, options } = task
          const flags = [Number(dryRun), Number(verbose)]
          insert.run(id, repository, description, now(), ...flags, JSON.stringify(options))
          return { ...require(id), position: positionOf(database, require(id)), abandoned: false }
        }),
      ),
    claim: (options = {}) => {
      const before = changesMade()
      const claimed = claimNext(database, { me, now: now(), ...options })
      // A worker that found nothing waits for the next change, so its own query must not count as one.
      if (changesMade() !== before) watcher.notify()
      return claimed
    },
    update: (id, change) =>
      notifying(() =>
        asHolder(id, () => {
          const columns = columnsOf(change)
          if (columns.length === 0) return
          const sets = columns.map(([name]) => `${name} = ?`).join(', ')
          database
            .prepare(`UPDATE tasks SET ${sets} WHERE id = ?`)
            .run(...columns.map(([, value]) => value), id)
        }),
      ),
    end: (id, { state, summary, error_message, metrics }) =>
      notifying(() =>
        asHolder(id, () => {
          const kept = metrics === undefined ? null : JSON.stringify(metrics)
          database
            .prepare(
              `UPDATE tasks SET state = ?, summary = ?, error_message = ?, metrics = ?, completed_at = ?, phase = NULL, owner = NULL WHERE id = ?`,
            )
            .run(state, summary, error_message, kept, now(), id)
          forgetOldEvents(database, new Date(clock.now().getTime() - eventsKeptMs).toISOString())
        }),
      ),
    accept: (id) =>
      notifying(() =>
        database.transaction(() => {
          const { state } = require(id)
          if (state !== 'WEAKENED')
            throw new GantryError('USAGE', `task ${id} is ${state}: only a WEAKENED task can be accepted`)
          database.prepare(`UPDATE tasks SET state = 'SUCCESS' WHERE id = ?`).run(id)
          return require(id)
        }),
      ),
    release: (id) => {
      // A clean release is not a death.
      notifying(() =>
        asHolder(id, () => {
          database.prepare('UPDATE tasks SET owner = NULL, deaths = deaths - 1 WHERE id = ?').run(id)
        }),
      )
    },
    cancel: (id) =>
      notifying(() =>
        database.transaction(() => {
          const task = require(id)
          if (task.state !== 'RUNNING' && task.state !== 'QUEUED')
            throw new GantryError('NOT_FOUND', `task ${id} is already ${task.state}`, {
              hint: 'Only a queued or running task can be cancelled.',
            })
          const row = byId.get(id)
          if (row !== undefined && (task.state === 'QUEUED' || isAbandoned(row.owner))) {
            const reason = `it was cancelled${task.state === 'QUEUED' ? ' before it started' : ''}`
            endLeft(database, row, 'CANCELLED', reason, { now: now() })
            return { kind: 'cancelled', task: require(id) }
          }
          database.prepare('UPDATE tasks SET cancel_requested = 1 WHERE id = ?').run(id)
          return { kind: 'asked', task }
        }),
      ),
    cancelRequested: (id) => byId.get(id)?.cancel_requested === 1,
    get: find,
    list: (filter = {}) => listTasks(database, filter),
    clearHistory: (filter: TaskFilter = {}) =>
      notifying(() =>
        database.transaction(() => {
          const ended = whereOf({ ...filter, states: filter.states ?? taskStates })
          return removeTasks(database, `${ended.sql} AND state NOT IN ('QUEUED', 'RUNNING')`, ended.values)
        }),
      ),
    append: (taskId, event, level) =>
      notifying(() => Number(insertEvent.get(taskId, level, JSON.stringify(event))?.id)),
    events: ({ afterId, taskId = null, level = null, limit }) =>
      database
        .prepare(
          `SELECT id, task_id, level, event FROM events WHERE id > ?1 ${taskId === null ? '' : 'AND task_id = ?3'}
           ${level === 'milestone' ? "AND level = 'milestone'" : level === 'detail' ? "AND level = 'detail'" : ''} ORDER BY id LIMIT ?2`,
        )
        .all(...(taskId === null ? [afterId, limit] : [afterId, limit, taskId]))
        .map((row) => ({
          id: Number(row.id),
          taskId: String(row.task_id),
          level: row.level === 'milestone' ? 'milestone' : 'detail',
          event: JSON.parse(String(row.event)),
        })),
    lastEventId: () =>
      Number(database.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'events'`).get()?.seq ?? 0),
    watch: watcher.watch,
    close: () => {
      watcher.close()
      database.close()
    },
  }
}

function prepareSchema(database: SqliteDatabase, path: string): void {
  const version = (): number => Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (version() === queueVersion) return
  database.transaction(() => {
    // Another process may have created the tables meanwhile.
    const found = version()
    if (found === 0) database.exec(queueSchema)
    else if (found > queueVersion)
      throw new GantryError('CORRUPT', `${path} was written by a newer version of Gantry`, {
        hint: 'Use that version, or name another store with AGENT_ARTIFACT_DIR.',
      })
  })
}

function positionOf(database: SqliteDatabase, { id, repository }: TaskRecord): number {
  const row = database
    .prepare(
      `SELECT count(*) AS n FROM tasks WHERE state = 'QUEUED' AND repository = ?1 AND seq <= (SELECT seq FROM tasks WHERE id = ?2)`,
    )
    .get(repository, id)
  return Number(row?.n)
}

/** Column names come from here, never from a caller. */
function columnsOf(change: TaskChange): (readonly [string, string | number | null])[] {
  const { run_ids, task_run_id, current_attempt, phase, summary } = change
  const ids = run_ids === undefined ? undefined : JSON.stringify(run_ids)
  return Object.entries(defined({ run_ids: ids, task_run_id, current_attempt, phase, summary }))
}

function removeTasks(database: SqliteDatabase, where: string, values: readonly string[]): number {
  database.prepare(`DELETE FROM events WHERE task_id IN (SELECT id FROM tasks WHERE ${where})`).run(...values)
  return Number(database.prepare(`DELETE FROM tasks WHERE ${where}`).run(...values).changes)
}

function forgetOldEvents(database: SqliteDatabase, before: string): void {
  database
    .prepare('DELETE FROM events WHERE task_id IN (SELECT id FROM tasks WHERE completed_at < ?)')
    .run(before)
}

/** Each group in the order of a database index. */
const groups = [
  `state = 'RUNNING' ORDER BY seq`,
  `state = 'QUEUED' ORDER BY seq`,
  `state NOT IN ('RUNNING', 'QUEUED') ORDER BY completed_at DESC, seq DESC`,
]

/** Running first, then queued in order, then ended, newest first. */
function listTasks(database: SqliteDatabase, filter: TaskFilter): readonly QueuedTask[] {
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
function whereOf({ repository, states, except = [] }: TaskFilter) {
  const parts = [
    ...(repository === undefined ? [] : ['repository = ?']),
    ...(states === undefined ? [] : [`state IN (${states.map(() => '?').join(', ')})`]),
    ...(except.length === 0 ? [] : [`id NOT IN (${except.map(() => '?').join(', ')})`]),
  ]
  const values = [...(repository === undefined ? [] : [repository]), ...(states ?? []), ...except]
  return { sql: parts.length === 0 ? 'TRUE' : parts.join(' AND '), values }
}

const lookEveryMs = 50

/** Notifies listeners of changes by this process at once, and by other processes shortly after. */
function watchDatabase(database: SqliteDatabase) {
  const listeners = new Set<() => void>()
  const versionQuery = database.prepare('PRAGMA data_version')
  const version = (): unknown => versionQuery.get()?.data_version
  let seen = version()
  let timer: NodeJS.Timeout | null = null
  let isPending = false
  const notifyAll = (): void => {
    isPending = false
    for (const listener of listeners) listener()
  }
  const look = (): void => {
    const found = version()
    if (found === seen) return
    seen = found
    notifyAll()
  }
  const stop = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    /** Several changes in quick succession cause one notification. */
    notify: (): void => {
      if (isPending || listeners.size === 0) return
      isPending = true
      setImmediate(notifyAll)
    },
    watch: (listener: () => void): (() => void) => {
      listeners.add(listener)
      timer ??= setInterval(look, lookEveryMs).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop()
      }
    },
    close: (): void => {
      listeners.clear()
      stop()
    },
  }
}
