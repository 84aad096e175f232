import { GantryError } from '../../core/error.ts'
import { parseJson } from '../../core/json-fields.ts'
import { newUuid } from '../../io/ids.ts'
import { sha256 } from '../../io/sha256.ts'
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from '../../io/sql.ts'
import {
  type NewQueuedTrial,
  type QueueCount,
  type QueuedRun,
  type TrialClaim,
  type TrialNeed,
  type TrialQueue,
  type WorkerFacts,
  workerGoneMs,
} from './contract.ts'
import type { HeldLease, Leases, NewLease } from './leases.ts'

/** Rows of one INSERT: far below the limits on parameters. */
const batch = 500
/** Ranks of trials of one priority. More than trials of a run. */
const ranks = 1_000_000
const sides = 1_000

/** The queue on any database: everything but the leases is the same for all. */
export function trialQueue(sql: SqlDatabase, leases: Leases): TrialQueue {
  const now = sql.nowMs
  const turn = new Map<string, number>()
  let turns = 0
  const heldBy = ({ lane, lease, attempt }: TrialClaim): HeldLease => ({ lane, id: lease, attempt })
  const lanes = async (): Promise<{ readonly name: string; readonly need: TrialNeed }[]> =>
    (await sql.query('SELECT name, need FROM lanes ORDER BY name')).map(({ name, need }) => ({
      name: String(name),
      need: parseJson(String(need)) as TrialNeed,
    }))

  const put = async (session: SqlSession, bytes: Uint8Array): Promise<string> => {
    const hash = sha256(bytes)
    await session.query('INSERT INTO blobs VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING', [hash, bytes])
    return hash
  }

  /** Groups that may not start now. */
  const blocked = async (session: SqlSession): Promise<string[] | null> => {
    const paused = await session.query(`SELECT grp FROM pauses WHERE until_ms IS NULL OR until_ms > ${now}`)
    const groups = paused.map(({ grp }) => String(grp))
    if (groups.includes('*')) return null
    // The rows are locked, so two claims do not count the same free place.
    const limits = await session.query('UPDATE limits SET most = most RETURNING grp, most')
    if (limits.length === 0) return groups
    const running = await session.query(
      `SELECT grp, count(*) AS n FROM trials WHERE state = 'running' GROUP BY grp`,
    )
    const counts = new Map(running.map(({ grp, n }) => [String(grp), Number(n)]))
    const full = limits.filter(({ grp, most }) => (counts.get(String(grp)) ?? 0) >= Number(most))
    return [...groups, ...full.map(({ grp }) => String(grp))]
  }

  /** Numbers of one run are given out under the lock of its row, so a reader that asks "after n" misses none. */
  const settle = async (session: SqlSession, run: string, trial: string, facts: Settling): Promise<void> => {
    const [row] = await session.query('SELECT reserved_usd FROM trials WHERE run = $1 AND id = $2', [
      run,
      trial,
    ])
    const [numbered] = await session.query(
      `UPDATE runs SET settled = settled + 1, spent_usd = spent_usd + $2, reserved_usd = reserved_usd - $3
       WHERE id = $1 RETURNING settled`,
      [run, facts.costUsd ?? 0, Number(row?.reserved_usd ?? 0)],
    )
    await session.query(
      `UPDATE trials SET state = $3, settled_no = $4, record = $5, archive = $6, cost_usd = $7, why = $8, reserved_usd = 0
       WHERE run = $1 AND id = $2`,
      [
        ...[run, trial, facts.record === null ? 'not_run' : 'done', Number(numbered?.settled)],
        ...[facts.record, facts.archive, facts.costUsd, facts.why],
      ],
    )
  }

  const claimIn = (lane: string, workerId: string, shareUsd: number): Promise<TrialClaim | 'again' | null> =>
    sql.transaction(async (session) => {
      const ignored = await blocked(session)
      const taken = ignored === null ? null : await leases.take(session, lane, ignored)
      if (taken === null) return null
      const [trial] = await session.query('SELECT run, id, spec, reserved_usd FROM trials WHERE lease = $1', [
        taken.id,
      ])
      const held = { ...taken, lane }
      if (trial === undefined) {
        await leases.end(session, held)
        return 'again'
      }
      const [run, id] = [String(trial.run), String(trial.id)]
      // An attempt whose worker died may have reserved before.
      const more = shareUsd - Number(trial.reserved_usd)
      const [paid] = await session.query(
        `UPDATE runs SET reserved_usd = reserved_usd + $2
         WHERE id = $1 AND (cap_usd IS NULL OR spent_usd + reserved_usd < cap_usd) RETURNING id`,
        [run, more],
      )
      if (paid === undefined) {
        await leases.end(session, held)
        await settle(session, run, id, { ...nothing, why: 'the budget of the run is used up' })
        return 'again'
      }
      await session.query(
        `UPDATE trials SET state = 'running', worker = $3, attempts = attempts + 1, reserved_usd = $4 WHERE run = $1 AND id = $2`,
        [run, id, workerId, shareUsd],
      )
      return { run, trial: id, spec: String(trial.spec), lane, lease: taken.id, attempt: taken.attempt }
    })

  const withLanes = async <T>(work: (session: SqlSession) => Promise<T>): Promise<T> => {
    for (const { name } of await lanes()) await leases.makeLane(name)
    return sql.transaction(work)
  }
  const unsettled = (session: SqlSession, where: string, values: readonly SqlValue[]): Promise<SqlRow[]> =>
    session.query(`SELECT run, id, lane, lease FROM trials WHERE ${where}`, values)

  return {
    put: (bytes) => put(sql, bytes),
    async get(hash) {
      const [row] = await sql.query('SELECT bytes FROM blobs WHERE hash = $1', [hash])
      if (row === undefined)
        throw new GantryError('NOT_FOUND', `the queue has no blob ${hash.slice(0, 12)}`, {
          hint: 'Submit the run again.',
        })
      const bytes = row.bytes as Uint8Array
      if (sha256(bytes) === hash) return bytes
      throw new GantryError('CORRUPT', `the blob ${hash.slice(0, 12)} of the queue is damaged`, {
        hint: 'Submit the run again.',
      })
    },
    async submit(run) {
      const known = new Set<string>()
      const laneOf = async ({ need }: NewQueuedTrial, session: SqlSession): Promise<string> => {
        const text = JSON.stringify(need)
        const name = `lane-${sha256(text).slice(0, 24)}`
        if (known.has(name)) return name
        known.add(name)
        await session.query('INSERT INTO lanes VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [name, text])
        return name
      }
      // Making a lane may need a transaction of its own. An empty one does no harm.
      const needs = new Map<string, NewQueuedTrial>()
      for (const trial of run.trials) needs.set(JSON.stringify(trial.need), trial)
      for (const trial of needs.values()) await leases.makeLane(await laneOf(trial, sql))
      return sql.transaction(async (session) => {
        const [inserted] = await session.query(
          `INSERT INTO runs VALUES ($1, $2, $3, $4, 0, ${now}, $5, 0, 0, 1, 0) ON CONFLICT (id) DO NOTHING RETURNING id`,
          [run.id, run.planHash, run.document, run.project, run.capUsd],
        )
        if (inserted === undefined) {
          const [other] = await session.query('SELECT plan_hash FROM runs WHERE id = $1', [run.id])
          if (other?.plan_hash === run.planHash) return false
          throw new GantryError('USAGE', `the queue has ${run.id} with another plan`, {
            hint: 'Start a new run instead.',
          })
        }
        let planned = 0
        let rows: SqlValue[] = []
        const jobs = new Map<string, NewLease[]>()
        const flush = async (): Promise<void> => {
          if (rows.length === 0) return
          const columns = 6
          const tuples = Array.from({ length: rows.length / columns }, (_, index) => {
            const values = Array.from({ length: columns }, (__, column) => `$${index * columns + column + 1}`)
            return `(${values.join(', ')}, 'queued', 0, 0)`
          })
          await session.query(
            `INSERT INTO trials (run, id, lease, lane, grp, spec, state, attempts, reserved_usd) VALUES ${tuples.join(', ')}`,
            rows,
          )
          for (const [lane, of] of jobs) await leases.add(session, lane, of)
          rows = []
          jobs.clear()
        }
        for (const trial of run.trials) {
          const lane = await laneOf(trial, session)
          const lease = newUuid()
          rows.push(run.id, trial.id, lease, lane, trial.group, trial.spec)
          const priority = priorityOf(run.priority, planned)
          jobs.set(lane, [...(jobs.get(lane) ?? []), { id: lease, group: trial.group, priority }])
          planned += 1
          if (planned % batch === 0) await flush()
        }
        await flush()
        await session.query('UPDATE runs SET planned = $2 WHERE id = $1', [run.id, planned])
        return true
      })
    },
    async run(id) {
      const [row] = await sql.query('SELECT * FROM runs WHERE id = $1', [id])
      return row === undefined ? null : runOf(row)
    },
    runs: async () => (await sql.query('SELECT * FROM runs ORDER BY created_ms DESC')).map(runOf),
    async register(worker) {
      const { id, ...facts } = worker
      const [row] = await sql.query(
        `INSERT INTO workers VALUES ($1, $2, ${now}, ${now}, 0)
         ON CONFLICT (id) DO UPDATE SET facts = excluded.facts, seen_ms = excluded.seen_ms RETURNING is_draining`,
        [id, JSON.stringify(facts)],
      )
      return { isDraining: Number(row?.is_draining) === 1 }
    },
    unregister: async (id) => void (await sql.query('DELETE FROM workers WHERE id = $1', [id])),
    async workers() {
      const rows = await sql.query(
        `SELECT w.id, w.facts, w.is_draining, ${now} - w.seen_ms AS ago,
         (SELECT count(*) FROM trials t WHERE t.worker = w.id AND t.state = 'running') AS running
         FROM workers w WHERE w.seen_ms > ${now} - ${workerGoneMs} ORDER BY w.id`,
      )
      return rows.map((row) => ({
        ...(parseJson(String(row.facts)) as Omit<WorkerFacts, 'id'>),
        id: String(row.id),
        seenMsAgo: Number(row.ago),
        isDraining: Number(row.is_draining) === 1,
        running: Number(row.running),
      }))
    },
    drain: async (id) =>
      (
        await sql.query(
          `UPDATE workers SET is_draining = 1 ${id === null ? '' : 'WHERE id = $1'} RETURNING id`,
          id === null ? [] : [id],
        )
      ).length,
    async claim(workerId, fits, shareUsd) {
      const fitting = (await lanes()).filter(({ need }) => fits(need))
      // The lane that waited longest first.
      const inTurn = fitting.toSorted((a, b) => (turn.get(a.name) ?? 0) - (turn.get(b.name) ?? 0))
      for (const { name } of inTurn) {
        await leases.makeLane(name)
        turns += 1
        turn.set(name, turns)
        for (;;) {
          const claim = await claimIn(name, workerId, shareUsd)
          if (claim === null) break
          if (claim !== 'again') return claim
        }
      }
      return null
    },
    beat: (claim) => leases.touch(heldBy(claim)),
    complete: (claim, { record, archive, costUsd, why }) =>
      sql.transaction(async (session) => {
        if (!(await leases.end(session, heldBy(claim)))) return false
        const stored = archive === null ? null : await put(session, archive)
        await settle(session, claim.run, claim.trial, { record, archive: stored, costUsd, why: why ?? null })
        return true
      }),
    giveBack: (claim) =>
      sql.transaction(async (session) => {
        if (await leases.release(session, heldBy(claim)))
          await session.query(
            `UPDATE trials SET state = 'queued', worker = NULL WHERE run = $1 AND id = $2`,
            [claim.run, claim.trial],
          )
      }),
    results: async (runId, after, limit) =>
      (
        await sql.query(
          `SELECT settled_no, id, record, archive, cost_usd, why, worker, attempts FROM trials
           WHERE run = $1 AND settled_no > $2 ORDER BY settled_no LIMIT ${Math.trunc(limit)}`,
          [runId, after],
        )
      ).map((row) => ({
        no: Number(row.settled_no),
        trial: String(row.id),
        record: textOf(row.record),
        archive: textOf(row.archive),
        costUsd: row.cost_usd === null ? null : Number(row.cost_usd),
        why: textOf(row.why),
        worker: textOf(row.worker),
        attempts: Number(row.attempts),
      })),
    stop: (runId, why) =>
      withLanes(async (session) => {
        const waiting = await unsettled(session, `run = $1 AND state = 'queued'`, [runId])
        for (const [lane, of] of Map.groupBy(waiting, ({ lane: name }) => String(name))) {
          await leases.cancel(
            session,
            lane,
            of.map(({ lease }) => String(lease)),
          )
          for (const { id } of of) await settle(session, runId, String(id), { ...nothing, why })
        }
        return waiting.length
      }),
    retry: (runId) =>
      withLanes(async (session) => {
        const again = (
          await session.query(
            `SELECT id, lane, grp, record FROM trials WHERE run = $1 AND state IN ('not_run', 'done') ORDER BY id`,
            [runId],
          )
        ).filter(({ record }) => record === null || /"verdict":"infra"/.test(String(record)))
        for (const { id, lane, grp } of again) {
          const lease = newUuid()
          await session.query(
            `UPDATE trials SET state = 'queued', lease = $3, settled_no = NULL, record = NULL, archive = NULL, why = NULL, worker = NULL
             WHERE run = $1 AND id = $2`,
            [runId, String(id), lease],
          )
          // Failed first.
          await leases.add(session, String(lane), [
            { id: lease, group: String(grp), priority: priorityOf(sides - 1, 0) },
          ])
        }
        return again.length
      }),
    pause: async (group, forMs, reason) => {
      const until = forMs === null ? 'NULL' : `${now} + ${Math.trunc(forMs)}`
      await sql.query(
        `INSERT INTO pauses VALUES ($1, ${until}, $2) ON CONFLICT (grp) DO UPDATE SET until_ms = excluded.until_ms, reason = excluded.reason`,
        [group, reason],
      )
    },
    resume: async (group) => void (await sql.query('DELETE FROM pauses WHERE grp = $1', [group])),
    pauses: async () =>
      (
        await sql.query(
          `SELECT grp, until_ms - ${now} AS left_ms, reason FROM pauses WHERE until_ms IS NULL OR until_ms > ${now} ORDER BY grp`,
        )
      ).map((row) => ({
        group: String(row.grp),
        leftMs: row.left_ms === null ? null : Number(row.left_ms),
        reason: String(row.reason),
      })),
    limit: async (group, most) => {
      await sql.query('DELETE FROM limits WHERE grp = $1', [group])
      if (most !== null) await sql.query('INSERT INTO limits VALUES ($1, $2)', [group, most])
    },
    needs: async () => (await lanes()).map(({ need }) => need),
    counts: async () =>
      (
        await sql.query(
          'SELECT run, grp, state, count(*) AS n FROM trials GROUP BY run, grp, state ORDER BY run, grp, state',
        )
      ).map((row) => ({
        run: String(row.run),
        group: String(row.grp),
        state: String(row.state) as QueueCount['state'],
        count: Number(row.n),
      })),
    async expire() {
      await leases.expire((await lanes()).map(({ name }) => name))
      await sql.transaction(async (session) => {
        const running = await unsettled(session, `state = 'running'`, [])
        for (const [lane, of] of Map.groupBy(running, ({ lane: name }) => String(name))) {
          const states = await leases.states(
            session,
            lane,
            of.map(({ lease }) => String(lease)),
          )
          for (const { run, id, lease } of of) {
            const state = states.get(String(lease))
            if (state === 'waiting')
              await session.query(
                `UPDATE trials SET state = 'queued', worker = NULL WHERE run = $1 AND id = $2 AND lease = $3 AND state = 'running'`,
                [String(run), String(id), String(lease)],
              )
            if (state === 'dead')
              await settle(session, String(run), String(id), {
                ...nothing,
                why: 'its workers died too often',
              })
          }
        }
      })
    },
    async close() {
      await leases.close()
      await sql.close()
    },
  }
}

interface Settling {
  readonly record: string | null
  readonly archive: string | null
  readonly costUsd: number | null
  readonly why: string | null
}

const nothing: Settling = { record: null, archive: null, costUsd: 0, why: null }

/** Positions count within a priority, so the first trials of a later run do not wait for all of an earlier one. */
function priorityOf(priority: number, position: number): number {
  return Math.max(-sides, Math.min(sides, priority)) * ranks - Math.min(position, ranks - 1)
}

function runOf(row: SqlRow): QueuedRun {
  return {
    id: String(row.id),
    document: String(row.document),
    project: String(row.project),
    planned: Number(row.planned),
    settled: Number(row.settled),
    capUsd: row.cap_usd === null ? null : Number(row.cap_usd),
    spentUsd: Number(row.spent_usd),
    reservedUsd: Number(row.reserved_usd),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
