import type { SqliteDatabase } from '../../io/sqlite.ts'
import type { ClaimedTask, FinalState, TaskRecord } from './contract.ts'
import { isAbandoned } from './owner.ts'
import { recordOf, type TaskRow } from './task-row.ts'

/** A task whose workers keep dying, for example out of memory, would otherwise block its repository forever. */
const maxDeaths = 3

export interface Claim {
  readonly me: string
  /** ISO 8601. */
  readonly now: string
  readonly repository?: string
}

/** Atomic: concurrent workers get different tasks, or none. */
export function claimNext(database: SqliteDatabase, claim: Claim): ClaimedTask | null {
  return database.transaction(() => {
    const running: TaskRow[] = []
    for (const row of rowsIn(database, 'RUNNING', claim.repository)) {
      if (!isAbandoned(row.owner)) running.push(row)
      else if (row.cancel_requested === 1) endLeft(database, row, 'CANCELLED', 'it was cancelled', claim)
      else if (Number(row.deaths) + 1 >= maxDeaths)
        endLeft(database, row, 'INFRA_ERROR', `its worker died ${maxDeaths} times`, claim)
      else return { task: take(database, row, claim, Number(row.deaths) + 1), resumed: true }
    }
    const next = rowsIn(database, 'QUEUED', claim.repository).find((row) => mayStart(row, running))
    return next === undefined ? null : { task: take(database, next, claim, 0), resumed: false }
  })
}

function rowsIn(database: SqliteDatabase, state: string, repository: string | undefined): readonly TaskRow[] {
  const query = `SELECT * FROM tasks WHERE state = ?`
  return repository === undefined
    ? database.prepare(`${query} ORDER BY seq`).all(state)
    : database.prepare(`${query} AND repository = ? ORDER BY seq`).all(state, repository)
}

/** How many tasks of one repository run side by side. Those that work in the user's tree run one at a time. */
const sideBySide = 4

/** Tasks that workers of another queue do need nothing of this machine. */
function mayStart(row: TaskRow, running: readonly TaskRow[]): boolean {
  const others = running.filter((each) => each.repository === row.repository && !isElsewhere(each))
  return isElsewhere(row) || (others.length < sideBySide && !(isHere(row) && others.some(isHere)))
}

function isElsewhere(row: TaskRow): boolean {
  return typeof recordOf(row).options.queue === 'string'
}

function isHere(row: TaskRow): boolean {
  return recordOf(row).options.here === true
}

function take(database: SqliteDatabase, { seq, started_at }: TaskRow, { me, now }: Claim, deaths: number) {
  const row = database
    .prepare(
      `UPDATE tasks SET state = 'RUNNING', owner = ?, started_at = ?, deaths = ? WHERE seq = ? RETURNING *`,
    )
    .get(me, typeof started_at === 'string' ? started_at : now, deaths, Number(seq))
  return recordOf(row ?? {})
}

/** Also used to cancel a task without a living worker. */
export function endLeft(
  database: SqliteDatabase,
  row: TaskRow,
  state: FinalState,
  reason: string,
  { now }: Pick<Claim, 'now'>,
): void {
  database
    .prepare(
      'UPDATE tasks SET state = ?, error_message = ?, completed_at = ?, phase = NULL, owner = NULL WHERE seq = ?',
    )
    .run(state, reason, now, Number(row.seq))
  const task = recordOf(row)
  database
    .prepare(`INSERT INTO events (task_id, level, event) VALUES (?, 'milestone', ?)`)
    .run(task.id, JSON.stringify(endEvent(task, state, reason, now)))
}

/** The end event of a task without a living worker, so clients that follow it see the end. */
function endEvent(task: TaskRecord, state: FinalState, reason: string, at: string): object {
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
