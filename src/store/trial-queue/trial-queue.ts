import { GantryError } from '../../core/error.ts'
import { parseJson } from '../../core/json-fields.ts'
import type { Bucket } from '../../io/bucket.ts'
import { newUuid } from '../../io/ids.ts'
import { sha256 } from '../../io/sha256.ts'
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from '../../io/sql.ts'
import {
  noSuchRun,
  type QueueCount,
  type QueuedRun,
  type TrialClaim,
  type TrialNeed,
  type TrialQueue,
  type WorkerFacts,
  workerGoneMs,
} from './contract.ts'
import type { Leases, NewLease, TakenLease } from './leases.ts'

/** Rows of one INSERT: far below the limits on parameters. */
const batch = 500
/** Ranks of trials of one priority. More than trials of a run. */
const ranks = 10_000_000
const sides = 100
/** Blobs up to this size are stored together, and read with the results. */
const smallBytes = 65_536

/** The queue on any database: everything but the leases is the same for all. `bucket` null: blobs are in the database. */
export function trialQueue(sql: SqlDatabase, leases: Leases, bucket: Bucket | null): TrialQueue {
  const now = sql.nowMs
  // Not every column: the server has plans of running workers when a later version adds one.
  const selectRun = `SELECT id, document, project, ${now} - created_ms AS age, planned, open_trials, settled, cap_usd, spent_usd, reserved_usd FROM runs`
  const heldBy = ({ lease, attempt }: TrialClaim): TakenLease => ({ id: lease, attempt })
  const lanesWith = async (fold: 'count(*)' | 'max(t.priority)') =>
    (
      await sql.query(
        `SELECT l.name, l.run, l.need, r.cap_usd, (SELECT ${fold} FROM trials t WHERE t.lane = l.name AND t.state = 'queued') AS folded
         FROM lanes l JOIN runs r ON r.id = l.run WHERE r.open_trials > 0 ORDER BY l.name`,
      )
    ).map(({ name, run, need, folded, cap_usd }) => ({
      isCapped: cap_usd !== null,
      name: String(name),
      run: String(run),
      need: parseJson(String(need)) as TrialNeed,
      folded: folded === null ? null : Number(folded),
    }))
  const lanes = async () =>
    (await lanesWith('count(*)')).map(({ folded, isCapped: _, ...lane }) => ({
      ...lane,
      waiting: folded ?? 0,
    }))

  const put = async (session: SqlSession, all: readonly Uint8Array[]) => {
    const hashes = new Map(all.map((bytes) => [bytes, sha256(bytes)]))
    const blobs = new Map([...hashes].map(([bytes, hash]) => [hash, bytes]))
    if (bucket !== null) for (const [hash, bytes] of blobs) await bucket.put(hash, bytes)
    else
      for (const some of Map.groupBy(blobs, ([hash, { length }]) => length > smallBytes && hash).values())
        await session.query(
          `INSERT INTO blobs VALUES ${tuples(some.length, 2)} ON CONFLICT (hash) DO NOTHING`,
          some.flat(),
        )
    return hashes
  }

  /** Groups that may not start now; null: none may. With limits, one trial is taken at a time. */
  const blocked = async (session: SqlSession): Promise<{ groups: string[]; isLimited: boolean } | null> => {
    const found = await session.query(
      `SELECT grp, NULL AS most FROM pauses WHERE until_ms IS NULL OR until_ms > ${now} UNION ALL SELECT grp, most FROM limits`,
    )
    const groups = found.filter(({ most }) => most === null).map(({ grp }) => String(grp))
    if (groups.includes('*')) return null
    if (groups.length === found.length) return { groups, isLimited: false }
    // The rows are locked, so two claims do not count the same free place.
    const limits = await session.query('UPDATE limits SET most = most RETURNING grp, most')
    const running = await session.query(
      `SELECT grp, count(*) AS n FROM trials WHERE state = 'running' GROUP BY grp`,
    )
    const counts = new Map(running.map(({ grp, n }) => [String(grp), Number(n)]))
    const full = limits.filter(({ grp, most }) => (counts.get(String(grp)) ?? 0) >= Number(most))
    return { groups: [...groups, ...full.map(({ grp }) => String(grp))], isLimited: true }
  }

  /** Numbers of one run are given out under the lock of its row, so a reader that asks "after n" misses none. */
  const settle = async (session: SqlSession, run: string, ended: readonly Settling[]): Promise<void> => {
    const ids = ended.map(({ trial }) => trial)
    const spentUsd = ended.reduce((sum, { costUsd, lostUsd }) => sum + (costUsd ?? 0) + lostUsd, 0)
    const dearestUsd = Math.max(
      ...ended.map(({ record, costUsd }) => (record === null ? -1 : (costUsd ?? 0))),
    )
    const [numbered] = await session.query(
      `UPDATE runs SET settled = settled + $2, open_trials = open_trials - $2, spent_usd = spent_usd + $3,
       reserved_usd = reserved_usd - (SELECT sum(reserved_usd) FROM trials WHERE run = $1 AND id IN ${tuples(1, ids.length, 5)}),
       dearest_usd = CASE WHEN $4 > COALESCE(dearest_usd, -1) THEN $4 ELSE dearest_usd END WHERE id = $1 RETURNING settled`,
      [run, ended.length, spentUsd, dearestUsd, ...ids],
    )
    const first = Number(numbered?.settled) - ended.length + 1
    await session.query(
      `UPDATE trials SET state = column2, settled_no = CAST(column3 AS INTEGER), record = column4, archive = column5,
       cost_usd = CAST(column6 AS DOUBLE PRECISION), why = column7, lost_usd = lost_usd + CAST(column8 AS DOUBLE PRECISION),
       reserved_usd = 0, begun_usd = 0 FROM (VALUES ${tuples(ended.length, 8, 2)}) AS ended WHERE run = $1 AND id = column1`,
      [
        run,
        ...ended.flatMap(({ trial, record, archive, costUsd, why, lostUsd }, index) => [
          ...[trial, record === null ? 'not_run' : 'done', first + index],
          ...[record, archive, costUsd, why, lostUsd],
        ]),
      ],
    )
  }

  /** `again`: what was taken is settled already. */
  const claimIn = async (lane: string, workerId: string, most: number): Promise<TrialClaim[] | 'again'> => {
    const taken = await sql.transaction(async (session) => {
      const block = await blocked(session)
      const held =
        block === null ? [] : await leases.take(session, lane, block.groups, block.isLimited ? 1 : most)
      if (held.length === 0) return []
      const trials = await session.query(
        `SELECT t.run, t.id, t.lease, t.grp, t.spec, t.expected_usd, t.attempts, t.paused_ms, t.reserved_usd, t.begun_usd, r.cap_usd FROM trials t JOIN runs r ON r.id = t.run WHERE t.lease IN ${tuples(1, held.length)}
         ORDER BY t.priority DESC`,
        held.map(({ id }) => id),
      )
      const attempts = new Map(held.map(({ id, attempt }) => [id, attempt]))
      const gone = held.filter(({ id }) => !trials.some(({ lease }) => lease === id))
      await leases.end(session, lane, gone)
      const claims: TrialClaim[] = []
      // Of a run with a cap only one is taken at a time.
      let toReserveUsd = 0
      for (const trial of trials) {
        const [run, id, begunUsd] = [String(trial.run), String(trial.id), Number(trial.begun_usd)]
        const lease = { id: String(trial.lease), attempt: attempts.get(String(trial.lease)) ?? 0 }
        // The row is locked, so two claims do not reserve the same money.
        const [money] =
          trial.cap_usd === null && begunUsd === 0
            ? []
            : await session.query(
                `UPDATE runs SET spent_usd = spent_usd + $2, reserved_usd = reserved_usd - $3
                 WHERE id = $1 RETURNING cap_usd, spent_usd, reserved_usd, dearest_usd`,
                [run, begunUsd, Number(trial.reserved_usd)],
              )
        const { capUsd, leftUsd, reservedUsd, dearestUsd } = moneyOf(money)
        const wantedUsd = capUsd === null ? 0 : Number(trial.expected_usd ?? dearestUsd ?? leftUsd)
        // A sum of fractions may be a little too large.
        if (leftUsd <= 0 || wantedUsd > leftUsd + 1e-9) {
          // Others may leave something of what they reserved.
          if (reservedUsd > 1e-9) throw waitForMoney
          const why = `the budget of the run is used up: $${Math.max(0, leftUsd).toFixed(4)} of $${capUsd?.toFixed(2)} is left`
          await leases.end(session, lane, [lease])
          await session.query(
            'UPDATE trials SET lost_usd = lost_usd + $3, reserved_usd = 0 WHERE run = $1 AND id = $2',
            [run, id, begunUsd],
          )
          await settle(session, run, [{ ...nothing, trial: id, why }])
          return leftUsd <= 0 ? { run, why } : 'again'
        }
        if (wantedUsd > 0)
          await session.query('UPDATE runs SET reserved_usd = reserved_usd + $2 WHERE id = $1', [
            run,
            wantedUsd,
          ])
        toReserveUsd = wantedUsd
        claims.push({
          ...{ run, trial: id, spec: String(trial.spec), lane, group: String(trial.grp) },
          ...{ lease: lease.id, attempt: lease.attempt, tries: Number(trial.attempts) + 1 },
          ...{ pausedMs: Number(trial.paused_ms), limitUsd: capUsd === null ? null : leftUsd },
        })
      }
      if (claims.length === 0) return 'again'
      await session.query(
        `UPDATE trials SET state = 'running', worker = $1, attempts = attempts + 1, reserved_usd = $2,
         lost_usd = lost_usd + begun_usd, begun_usd = 0 WHERE lease IN ${tuples(1, claims.length, 3)}`,
        [workerId, toReserveUsd, ...claims.map(({ lease }) => lease)],
      )
      return claims
    })
    if (taken === 'again' || Array.isArray(taken)) return taken
    await stop(taken.run, taken.why)
    return []
  }

  const withLanes = async <T>(runId: string, work: (session: SqlSession) => Promise<T>): Promise<T> => {
    const names = await sql.query('SELECT name FROM lanes WHERE run = $1', [runId])
    if (names.length === 0) throw noSuchRun(runId)
    for (const { name } of names) await leases.makeLane(String(name))
    return sql.transaction(work)
  }

  /** Leases, then the run, then trials, as everywhere: another order could block two transactions for good. */
  const stop: TrialQueue['stop'] = (runId, why) =>
    withLanes(runId, async (session) => {
      const waiting = await session.query(
        `SELECT lane, lease FROM trials WHERE run = $1 AND state = 'queued'`,
        [runId],
      )
      for (const [lane, of] of Map.groupBy(waiting, (row) => String(row.lane)))
        await leases.cancel(
          session,
          lane,
          of.map(({ lease }) => String(lease)),
        )
      const [run] = await session.query('UPDATE runs SET settled = settled WHERE id = $1 RETURNING settled', [
        runId,
      ])
      const stopped = await session.query(
        `WITH waiting AS (SELECT id, row_number() OVER (ORDER BY priority DESC) AS n FROM trials WHERE run = $1 AND state = 'queued')
         UPDATE trials SET state = 'not_run', settled_no = CAST($2 AS INTEGER) + waiting.n, cost_usd = 0, why = $3 FROM waiting
         WHERE trials.run = $1 AND trials.id = waiting.id AND trials.state = 'queued' RETURNING settled_no`,
        [runId, Number(run?.settled), why],
      )
      await session.query(
        'UPDATE runs SET settled = settled + $2, open_trials = open_trials - $2 WHERE id = $1',
        [runId, stopped.length],
      )
      return stopped.length
    })

  return {
    leaseSeconds: leases.leaseSeconds,
    put: async (bytes) => (await put(sql, [bytes])).get(bytes) ?? '',
    async get(hash) {
      const [row] = await sql.query('SELECT bytes FROM blobs WHERE hash = $1', [hash])
      const bytes = row === undefined ? await bucket?.get(hash) : (row.bytes as Uint8Array)
      if (bytes == null)
        throw new GantryError('NOT_FOUND', `the queue has no blob ${hash.slice(0, 12)}`, {
          hint: 'Name the same --blobs on all machines, or submit the run again.',
        })
      if (sha256(bytes) === hash) return bytes
      throw new GantryError('CORRUPT', `the blob ${hash.slice(0, 12)} of the queue is damaged`, {
        hint: 'Submit the run again.',
      })
    },
    async submit(run) {
      // Making a lane may need a transaction of its own. An empty one does no harm.
      const laneNames = new Map<string, string>()
      for (const { need } of run.trials) {
        const text = JSON.stringify(need)
        if (laneNames.has(text)) continue
        laneNames.set(text, `lane-${sha256(run.id + text).slice(0, 24)}`)
        await leases.makeLane(laneNames.get(text) ?? '')
      }
      const others = (await lanesWith('max(t.priority)')).map(({ folded }) => folded)
      return sql.transaction(async (session) => {
        const [inserted] = await session.query(
          `INSERT INTO runs VALUES ($1, $2, $3, $4, 0, ${now}, $5, 0, 0, NULL, 0, 0) ON CONFLICT (id) DO NOTHING RETURNING id`,
          [run.id, run.planHash, run.document, run.project, run.capUsd],
        )
        if (inserted === undefined) {
          const [other] = await session.query('SELECT plan_hash FROM runs WHERE id = $1', [run.id])
          if (other?.plan_hash === run.planHash) return false
          throw new GantryError('USAGE', `the queue has ${run.id} with another plan`, {
            hint: 'Start a new run instead.',
          })
        }
        for (const [need, name] of laneNames)
          await session.query('INSERT INTO lanes VALUES ($1, $2, $3)', [name, run.id, need])
        const start = startOf(run.priority, others)
        let planned = 0
        let rows: SqlValue[] = []
        const jobs = new Map<string, NewLease[]>()
        const flush = async (): Promise<void> => {
          if (rows.length === 0) return
          await session.query(
            `INSERT INTO trials (run, id, lease, lane, grp, priority, spec, expected_usd) VALUES ${tuples(rows.length / 8, 8)}`,
            rows,
          )
          for (const [lane, of] of jobs) await leases.add(session, lane, of)
          rows = []
          jobs.clear()
        }
        for (const { id, need, group, spec, expectedUsd } of run.trials) {
          const lane = laneNames.get(JSON.stringify(need)) ?? ''
          const [lease, priority] = [newUuid(), start - Math.min(planned, ranks / 2)]
          rows.push(run.id, id, lease, lane, group, priority, spec, expectedUsd)
          const same = jobs.get(lane) ?? []
          same.push({ id: lease, group, priority })
          jobs.set(lane, same)
          planned += 1
          if (planned % batch === 0) await flush()
        }
        await flush()
        await session.query('UPDATE runs SET planned = $2, open_trials = $2 WHERE id = $1', [run.id, planned])
        return true
      })
    },
    async run(id) {
      const [row] = await sql.query(`${selectRun} WHERE id = $1`, [id])
      return row === undefined ? null : runOf(row)
    },
    runs: async () => (await sql.query(`${selectRun} ORDER BY created_ms DESC`)).map(runOf),
    specs: async (id) =>
      (await sql.query('SELECT spec FROM trials WHERE run = $1 ORDER BY id', [id])).map(({ spec }) =>
        String(spec),
      ),
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
      const held = await sql.query(
        `SELECT worker, run, id FROM trials WHERE state = 'running' ORDER BY run, id`,
      )
      const rows = await sql.query(
        `SELECT id, facts, is_draining, ${now} - seen_ms AS ago
         FROM workers WHERE seen_ms > ${now} - ${workerGoneMs} ORDER BY id`,
      )
      return rows.map((row) => ({
        ...(parseJson(String(row.facts)) as Omit<WorkerFacts, 'id'>),
        id: String(row.id),
        seenMsAgo: Number(row.ago),
        isDraining: Number(row.is_draining) === 1,
        holds: held
          .filter(({ worker }) => worker === row.id)
          .map(({ run, id }) => ({ run: String(run), trial: String(id) })),
      }))
    },
    drain: async (id) =>
      (
        await sql.query(
          `UPDATE workers SET is_draining = 1 ${id === null ? '' : 'WHERE id = $1'} RETURNING id`,
          id === null ? [] : [id],
        )
      ).length,
    lanes,
    async claim(workerId, fits, most = 1) {
      const waiting = (await lanesWith('max(t.priority)')).filter(({ folded }) => folded !== null)
      for (const lane of waiting.toSorted((a, b) => (b.folded ?? 0) - (a.folded ?? 0))) {
        if (!(await fits({ ...lane, waiting: 1 }))) continue
        await leases.makeLane(lane.name)
        const atOnce = waiting.length > 1 || lane.isCapped ? 1 : most
        for (;;) {
          const claims = await claimIn(lane.name, workerId, atOnce).catch((error: unknown) => {
            if (error === waitForMoney) return []
            throw error
          })
          if (claims === 'again') continue
          if (claims.length > 0) return claims
          break
        }
      }
      return []
    },
    async beat(claim, spentUsd) {
      if (!(await leases.touch(claim.lane, heldBy(claim)))) return false
      if (spentUsd > 0)
        await sql.query(
          'UPDATE trials SET begun_usd = $3 WHERE lease = $1 AND attempts = $2 AND settled_no IS NULL',
          [claim.lease, claim.tries, spentUsd],
        )
      return true
    },
    complete: (ended) =>
      sql.transaction(async (session) => {
        const kept = new Set<string>()
        for (const [lane, of] of Map.groupBy(ended, ({ claim }) => claim.lane))
          for (const id of await leases.end(
            session,
            lane,
            of.map(({ claim }) => heldBy(claim)),
          ))
            kept.add(id)
        const byRun = Map.groupBy(
          ended.filter(({ claim }) => kept.has(claim.lease)),
          ({ claim }) => claim.run,
        )
        // In one order, so that two transactions do not wait for each other.
        for (const [run, of] of [...byRun].sort(([a], [b]) => (a < b ? -1 : 1))) {
          const archives = of.flatMap(({ outcome }) => outcome.archive ?? [])
          const hashes = await put(session, archives)
          const settled = of.map(({ claim: { trial }, outcome: { archive, ...rest } }) => ({
            ...{ ...nothing, ...rest, trial },
            archive: archive === null ? null : (hashes.get(archive) ?? null),
          }))
          await settle(session, run, settled)
        }
        return ended.map(({ claim }) => kept.has(claim.lease))
      }),
    giveBack: (claim, begun) =>
      sql.transaction(async (session) => {
        const { run, trial, group, lane } = claim
        if ((await leases.end(session, lane, [heldBy(claim)])).length === 0) return
        // Another lease, because only attempts whose worker died are counted.
        const lease = newUuid()
        const { spentUsd = 0, pausedMs = 0 } = begun ?? {}
        await session.query(
          `UPDATE runs SET spent_usd = spent_usd + $3,
           reserved_usd = reserved_usd - (SELECT reserved_usd FROM trials WHERE run = $1 AND id = $2) WHERE id = $1`,
          [run, trial, spentUsd],
        )
        const [row] = await session.query(
          `UPDATE trials SET state = 'queued', worker = NULL, lease = $3, reserved_usd = 0, begun_usd = 0,
           lost_usd = lost_usd + $4, paused_ms = paused_ms + $5, attempts = attempts - $6 WHERE run = $1 AND id = $2 RETURNING priority`,
          [run, trial, lease, spentUsd, Math.trunc(pausedMs), begun === null ? 1 : 0],
        )
        await leases.add(session, lane, [{ id: lease, group, priority: Number(row?.priority) }])
      }),
    tell: (runId, attempt, notes) =>
      sql.transaction(async (session) => {
        for (const text of notes)
          await session.query(
            `INSERT INTO notes SELECT CAST($1 AS TEXT), CAST($2 AS INTEGER), COALESCE(max(no), 0) + 1, CAST($3 AS TEXT)
             FROM notes WHERE run = $1 AND attempt = $2`,
            [runId, attempt, text],
          )
      }),
    notes: async (runId, { attempt, no }, limit) =>
      (
        await sql.query(
          `SELECT attempt, no, text FROM notes WHERE run = $1 AND (attempt > $2 OR attempt = $2 AND no > $3)
           ORDER BY attempt, no LIMIT ${Math.trunc(limit)}`,
          [runId, attempt, no],
        )
      ).map((row) => ({ attempt: Number(row.attempt), no: Number(row.no), text: String(row.text) })),
    results: async (runId, after, limit) =>
      (
        await sql.query(
          `SELECT settled_no, id, record, archive, bytes, cost_usd, lost_usd, why, worker, attempts FROM trials
           LEFT JOIN blobs ON hash = archive AND length(bytes) <= ${smallBytes}
           WHERE run = $1 AND settled_no > $2 ORDER BY settled_no LIMIT ${Math.trunc(limit)}`,
          [runId, after],
        )
      ).map((row) => ({
        no: Number(row.settled_no),
        trial: String(row.id),
        record: textOf(row.record),
        archive: textOf(row.archive),
        files: row.bytes instanceof Uint8Array && sha256(row.bytes) === row.archive ? row.bytes : null,
        costUsd: row.cost_usd === null ? null : Number(row.cost_usd),
        lostUsd: Number(row.lost_usd),
        why: textOf(row.why),
        worker: textOf(row.worker),
        attempts: Number(row.attempts),
      })),
    stop,
    retry: (runId) =>
      withLanes(runId, async (session) => {
        const again = (
          await session.query(
            `SELECT id, lane, grp, priority, record FROM trials WHERE run = $1 AND state IN ('not_run', 'done') ORDER BY id`,
            [runId],
          )
        ).filter(({ record }) => record === null || /"verdict":"infra"/.test(String(record)))
        for (const { id, lane, grp, priority } of again) {
          // Failed first, among the runs of its priority.
          const [lease, first] = [newUuid(), Math.ceil(Number(priority) / ranks) * ranks]
          await leases.add(session, String(lane), [{ id: lease, group: String(grp), priority: first }])
          await session.query(
            `UPDATE trials SET state = 'queued', lease = $3, priority = $4, settled_no = NULL, record = NULL, archive = NULL, why = NULL,
             worker = NULL, lost_usd = lost_usd + COALESCE(cost_usd, 0), cost_usd = NULL WHERE run = $1 AND id = $2`,
            [runId, String(id), lease, first],
          )
        }
        await session.query('UPDATE runs SET open_trials = open_trials + $2 WHERE id = $1', [
          runId,
          again.length,
        ])
        return again.length
      }),
    pause: async (group, forMs, reason) => {
      const until = forMs === null ? 'NULL' : `${now} + ${Math.trunc(forMs)}`
      await sql.query(
        `INSERT INTO pauses VALUES ($1, ${until}, $2) ON CONFLICT (grp) DO UPDATE SET until_ms = excluded.until_ms, reason = excluded.reason
         WHERE pauses.until_ms IS NOT NULL AND (excluded.until_ms IS NULL OR excluded.until_ms > pauses.until_ms)`,
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
        const running = await session.query(
          `SELECT run, id, lane, lease, attempts, begun_usd FROM trials WHERE state = 'running'`,
        )
        for (const [lane, of] of Map.groupBy(running, ({ lane: name }) => String(name))) {
          const states = await leases.states(
            session,
            lane,
            of.map(({ lease }) => String(lease)),
          )
          for (const { run, id, lease, attempts, begun_usd } of of) {
            const state = states.get(String(lease))
            if (state === 'held') continue
            // It may have ended since it was read: then its lease is gone, too.
            const [left] = await session.query(
              `UPDATE trials SET state = $5, worker = CASE WHEN $5 = 'queued' THEN NULL ELSE worker END
               WHERE run = $1 AND id = $2 AND lease = $3 AND attempts = $4 AND state = 'running' RETURNING id`,
              [
                ...[String(run), String(id), String(lease), Number(attempts)],
                state === 'waiting' ? 'queued' : 'running',
              ],
            )
            if (state === 'dead' && left !== undefined)
              await settle(session, String(run), [
                {
                  ...nothing,
                  trial: String(id),
                  lostUsd: Number(begun_usd),
                  why: 'its workers died too often',
                },
              ])
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
  readonly trial: string
  readonly record: string | null
  readonly archive: string | null
  readonly costUsd: number | null
  readonly lostUsd: number
  readonly why: string | null
}

const nothing = { record: null, archive: null, costUsd: 0, lostUsd: 0, why: null }

/** `($3, $4), ($5, $6)` for two rows of two values from 3 on. */
function tuples(rows: number, columns: number, from = 1): string {
  const row = (first: number) => Array.from({ length: columns }, (_, index) => `$${first + index}`).join(', ')
  return Array.from({ length: rows }, (_, index) => `(${row(from + index * columns)})`).join(', ')
}

/** Undoes a claim. */
const waitForMoney = new Error('the money that is left is reserved')

/** Without a row there is no cap. */
function moneyOf(row: SqlRow | undefined) {
  const capUsd = row === undefined || row.cap_usd === null ? null : Number(row.cap_usd)
  const reservedUsd = Number(row?.reserved_usd ?? 0)
  const leftUsd = (capUsd ?? Number.POSITIVE_INFINITY) - Number(row?.spent_usd ?? 0) - reservedUsd
  return { capUsd, reservedUsd, leftUsd, dearestUsd: row?.dearest_usd ?? null }
}

/** A new run starts where the others of its priority are, so that it does not wait for them, nor they for it. */
function startOf(priority: number, others: readonly (number | null)[]): number {
  const top = Math.max(-sides, Math.min(sides, priority)) * ranks
  const same = others.filter((each) => each !== null && each <= top && each > top - ranks / 2)
  return same.length === 0 ? top : Math.max(...same.map(Number))
}

function runOf(row: SqlRow): QueuedRun {
  return {
    id: String(row.id),
    document: String(row.document),
    project: String(row.project),
    ageMs: Number(row.age),
    planned: Number(row.planned),
    open: Number(row.open_trials),
    settled: Number(row.settled),
    capUsd: row.cap_usd === null ? null : Number(row.cap_usd),
    spentUsd: Number(row.spent_usd),
    reservedUsd: Number(row.reserved_usd),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
