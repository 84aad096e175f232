import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asPlainUser } from '../../test/as-plain-user.ts'
import { openDatabase } from './sqlite.ts'

const here = join(import.meta.dirname, 'sqlite.ts')
let root = ''
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-sqlite-'))
  chmodSync(root, 0o755)
})
afterAll(() => rmSync(root, { recursive: true }))

const newPath = (): string => join(root, `${++count}.db`)

test('data persists when the file is reopened, and foreign keys are enforced', () => {
  const path = newPath()
  const first = openDatabase(path)
  first.exec('CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a(id))')
  first.prepare('INSERT INTO a VALUES (?)').run(1)
  expect(() => first.prepare('INSERT INTO b VALUES (2)').run()).toThrow(/FOREIGN KEY/)
  first.close()
  first.close()
  const second = openDatabase(path)
  expect(second.prepare('SELECT id FROM a').all()).toEqual([{ id: 1 }])
  expect(second.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  second.close()
})

test('a transaction that throws is rolled back, an inner one separately', () => {
  const database = openDatabase(newPath())
  database.exec('CREATE TABLE t (n INTEGER)')
  const add = (n: number) => database.prepare('INSERT INTO t VALUES (?)').run(n)
  expect(() =>
    database.transaction(() => {
      add(1)
      throw new Error('no')
    }),
  ).toThrow('no')
  const answer = database.transaction(() => {
    add(2)
    expect(() =>
      database.transaction(() => {
        add(3)
        throw new Error('inner')
      }),
    ).toThrow('inner')
    database.transaction(() => add(4))
    return 'done'
  })
  expect(answer).toBe('done')
  expect(database.prepare('SELECT n FROM t').all()).toEqual([{ n: 2 }, { n: 4 }])
  database.close()
})

test('a file that is not a database is CORRUPT', () => {
  const path = newPath()
  writeFileSync(path, 'this is certainly not a database file, whatever its name says'.repeat(100))
  expect(() => openDatabase(path)).toThrow(expect.objectContaining({ code: 'CORRUPT', at: { file: path } }))
})

test('a database with a damaged page is CORRUPT at the latest when it is read', () => {
  const path = newPath()
  const made = openDatabase(path)
  made.exec('CREATE TABLE t (x TEXT)')
  made.transaction(() => {
    for (let n = 0; n < 500; n += 1) made.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(100))
  })
  made.close()
  const bytes = readFileSync(path)
  bytes.fill(0xff, 4096)
  writeFileSync(path, bytes)
  expect(() => {
    const database = openDatabase(path)
    try {
      database.prepare('SELECT count(x) FROM t').get()
    } finally {
      database.close()
    }
  }).toThrow(expect.objectContaining({ code: 'CORRUPT' }))
})

test('a read-only or missing directory is NOT_WRITABLE', () => {
  const closed = join(root, 'closed')
  mkdirSync(closed, { mode: 0o555 })
  expect(() => asPlainUser(() => openDatabase(join(closed, 'x.db')))).toThrow(
    expect.objectContaining({ code: 'NOT_WRITABLE' }),
  )
  expect(() => openDatabase(join(root, 'none/x.db'))).toThrow(
    expect.objectContaining({ code: 'NOT_WRITABLE' }),
  )
})

test('an SQL error is thrown unchanged', () => {
  const database = openDatabase(newPath())
  expect(() => database.exec('SELEKT')).toThrow(expect.objectContaining({ code: 'ERR_SQLITE_ERROR' }))
  database.close()
})

test('nothing is printed: this Node has no warning about SQLite', () => {
  const program = `import { openDatabase } from ${JSON.stringify(here)}; openDatabase(':memory:').close()`
  const output = execFileSync('sh', [
    '-c',
    '"$0" --input-type=module -e "$1" 2>&1',
    process.execPath,
    program,
  ])
  expect(output.toString()).toBe('')
})
