import type { Database } from '../../io/sqlite.ts'
import type { ClaimedTask, FinalState, TaskRecord } from './contract.ts'
import { wasLeft } from './owner.ts'
import { type Row, recordOf } from './task-row.ts'

/** A task whose workers die again and again, such as for want of memory, would block its repository for ever. */
const maxDeaths = 3

export interface Claim {
  readonly me: string
  /** ISO 8601. */
  readonly now: string
  readonly repository?: string
}

/** As one step: of many workers that ask at once each gets another task, or none. */
export function claimNext(database: Database, claim: Claim): ClaimedTask | null {
  return database.transaction(() => {
    const busy: string[] = []
    for (const row of runningIn(database, claim.repository)) {
      if (!wasLeft(row.owner)) busy.push(String(row.repository))
      else if (row.cancel_requested === 1) endLeft(database, row, 'CANCELLED', 'it was cancelled', claim)
      else if (Number(row.deaths) + 1 >= maxDeaths)
        endLeft(database, row, 'INFRA_ERROR', `its worker died ${maxDeaths} times`, claim)
      else return { task: take(database, row, claim, Number(row.deaths) + 1), resumed: true }
    }
    const next = oldestQueued(database, busy, claim.repository)
    return next === null ? null : { task: take(database, next, claim, 0), resumed: false }
  })
}

function runningIn(database: Database, repository: string | undefined): readonly Row[] {
  const running = `SELECT * FROM tasks WHERE state = 'RUNNING'`
  return repository === undefined
    ? database.prepare(`${running} ORDER BY seq`).all()
    : database.prepare(`${running} AND repository = ? ORDER BY seq`).all(repository)
}

function oldestQueued(
  database: Database,
  busy: readonly string[],
  repository: string | undefined,
): Row | null {
  const places = busy.map(() => '?').join(', ')
  const only = repository === undefined ? '' : 'AND repository = ?'
  const values = repository === undefined ? busy : [...busy, repository]
  const row = database
    .prepare(
      `SELECT * FROM tasks WHERE state = 'QUEUED' AND repository NOT IN (${places}) ${only} ORDER BY seq LIMIT 1`,
    )
    .get(...values)
  return row ?? null
}

function take(database: Database, { seq, started_at }: Row, { me, now }: Claim, deaths: number) {
  const row = database
    .prepare(
      `UPDATE tasks SET state = 'RUNNING', owner = ?, started_at = ?, deaths = ? WHERE seq = ? RETURNING *`,
    )
    .get(me, typeof started_at === 'string' ? started_at : now, deaths, Number(seq))
  return recordOf(row ?? {})
}

/** Also by whoever cancels a task that nobody works on. */
export function endLeft(
  database: Database,
  row: Row,
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

/** What the feed says of a task that ended when nobody worked on it any more: whoever follows it must hear the end. */
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
