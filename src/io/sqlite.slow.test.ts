import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from './sqlite.ts'

const here = join(import.meta.dirname, 'sqlite.ts')
let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-sqlite-'))
})
afterAll(() => rmSync(root, { recursive: true }))

test('processes that write at once wait for each other and lose nothing', async () => {
  const path = join(root, 'shared.db')
  const database = openDatabase(path)
  database.exec('CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)')
  const program = `
    import { openDatabase } from ${JSON.stringify(here)}
    const database = openDatabase(${JSON.stringify(path)})
    for (let n = 0; n < 200; n += 1) database.transaction(() => {
      const row = database.prepare('SELECT n FROM t').get()
      database.prepare('UPDATE t SET n = ?').run(Number(row.n) + 1)
    })
    database.close()`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const endings = await Promise.all([run(), run(), run()])
  expect(endings.map(({ stderr }) => stderr)).toEqual(['', '', ''])
  expect(database.prepare('SELECT n FROM t').get()).toEqual({ n: 600 })
  database.close()
})
