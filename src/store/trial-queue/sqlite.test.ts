import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../io/sql.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { migrate, openOn, openTrialQueue } from './open-trial-queue.ts'
import { need, queueConformance } from './queue.conformance.ts'

queueConformance('SQLite', async () => {
  const lab = temporaryDirectory('gantry-queue-')
  const path = join(lab.path, 'queue.db')
  const sql = openSqlite(path)
  const queue = await openOn(sql, 'sqlite')
  const other = await openTrialQueue(`sqlite:${path}`)
  return {
    queue,
    other,
    sql,
    age: async (ms) => void (await sql.query(`UPDATE leases SET beat_ms = beat_ms - ${ms}`)),
    close: async () => {
      await queue.close()
      await other.close()
      lab[Symbol.dispose]()
    },
  }
})

test('ending many trials takes as many statements as ending one', async () => {
  const sql = openSqlite(':memory:')
  let statements = 0
  const queue = await openOn(
    {
      ...sql,
      transaction: (work) =>
        sql.transaction((session) =>
          work({
            query: (text, values) => {
              // A server is not asked for each lease either, but SQLite is.
              if (!text.includes('leases')) statements += 1
              return session.query(text, values)
            },
          }),
        ),
    },
    'sqlite',
  )
  const trials = Array.from({ length: 9 }, (_, index) => ({
    ...{ id: `t${index}`, spec: '{}', need, group: 'p/m', expectedUsd: null },
  }))
  await queue.submit({
    ...{ id: 'r', planHash: 'h', document: '{}', project: 'p', capUsd: null, priority: 0, trials },
  })
  const countOf = async (most: number): Promise<number> => {
    const claims = await queue.claim('w', () => true, most)
    statements = 0
    const outcome = (index: number) => ({ record: '{}', archive: Buffer.from(`${index}`), costUsd: 0 })
    await queue.complete(claims.map((claim, index) => ({ claim, outcome: outcome(index) })))
    return statements
  }
  expect(await countOf(8)).toBe(await countOf(1))
  expect(await queue.results('r', 0, 10)).toHaveLength(9)
  await queue.close()
})

test('a queue of a newer version is refused and stays as it is', async () => {
  using lab = temporaryDirectory('gantry-queue-')
  const address = `sqlite:${join(lab.path, 'queue.db')}`
  await (await openTrialQueue(address)).close()
  const sql = openSqlite(join(lab.path, 'queue.db'))
  await sql.query('UPDATE meta SET version = 99')
  await expect(openTrialQueue(address)).rejects.toMatchObject({
    code: 'USAGE',
    message: 'the queue was made by a newer version of Gantry (tables 99)',
  })
  await sql.close()
})

test('steps of the tables run once and in order, even if several processes open the queue at the same time', async () => {
  using lab = temporaryDirectory('gantry-queue-')
  const [sql, other] = [openSqlite(join(lab.path, 'queue.db')), openSqlite(join(lab.path, 'queue.db'))]
  const steps = ['CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1);', 'UPDATE a SET n = n + 1;']
  await migrate(sql, steps.slice(0, 1))
  await Promise.all([migrate(sql, steps), migrate(other, steps)])
  await migrate(other, steps)
  expect(await sql.query('SELECT n, version FROM a, meta')).toEqual([{ n: 2, version: 2 }])
  const broken = [...steps, 'UPDATE a SET n = 9; SELECT * FROM nothing;']
  await expect(migrate(sql, broken)).rejects.toThrow('nothing')
  expect(await sql.query('SELECT n, version FROM a, meta')).toEqual([{ n: 2, version: 2 }])
  await expect(migrate(sql, steps.slice(0, 1))).rejects.toMatchObject({ code: 'USAGE' })
  await sql.close()
  await other.close()
})

test.each(['', 'redis://x', 'mysql://h/db'])('%j is not the address of a queue', async (address) => {
  await expect(openTrialQueue(address)).rejects.toMatchObject({ code: 'USAGE' })
})

test.each(['9', 'soon', '10.5'])('a lease of %s seconds is refused', async (GANTRY_QUEUE_LEASE) => {
  await expect(openTrialQueue('sqlite::memory:', { env: { GANTRY_QUEUE_LEASE } })).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('10 or more seconds'),
  })
})

test('a server that cannot be reached is named, with what to do', async () => {
  await expect(openTrialQueue('postgres://gantry@127.0.0.1:1/none')).rejects.toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    message: expect.stringContaining('cannot be reached'),
    hint: 'Check the address, and that the server runs.',
  })
})
