import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { acquireLock, lockHolder } from './lock.ts'

const root = mkdtempSync(join(tmpdir(), 'gantry-lock-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let made = 0
const freshPath = (): string => join(mkdtempSync(join(root, `${made++}-`)), 'run.lock')
const module = JSON.stringify(join(import.meta.dirname, 'lock.ts'))

/** Another process that takes the lock, prints `held` or `lost`, and stays. */
function contender(path: string, startAt = 0) {
  const program = `import { acquireLock } from ${module}
    while (Date.now() < ${startAt}) {}
    console.log(acquireLock(${JSON.stringify(path)}, { label: 'other' }) ? 'held' : 'lost')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const answer = once(child.stdout, 'data').then(([data]) => String(data).trim())
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { answer, kill, pid: child.pid }
}

test('a lock has one holder until it is released', () => {
  const path = freshPath()
  const lock = acquireLock(path, { label: 'first' })
  expect(lock).not.toBeNull()
  expect(acquireLock(path, { label: 'second' })).toBeNull()
  expect(lockHolder(path)).toMatchObject({ pid: process.pid, label: 'first' })
  lock?.release()
  expect(lockHolder(path)).toBeNull()
  const next = acquireLock(path, { label: 'second' })
  lock?.release()
  expect(lockHolder(path)).toMatchObject({ label: 'second' })
  next?.release()
  expect(readdirSync(join(path, '..'))).toEqual([])
})

test('the lock of a killed process is taken over', async () => {
  const path = freshPath()
  const other = contender(path)
  expect(await other.answer).toBe('held')
  expect(acquireLock(path, { label: 'me' })).toBeNull()
  expect(lockHolder(path)).toMatchObject({ pid: other.pid, label: 'other' })
  await other.kill()
  expect(lockHolder(path)).toBeNull()
  expect(acquireLock(path, { label: 'me' })).not.toBeNull()
  expect(lockHolder(path)).toMatchObject({ pid: process.pid })
  expect(readdirSync(join(path, '..'))).toEqual(['run.lock'])
})

test('a reused pid does not hold the lock', () => {
  const path = freshPath()
  acquireLock(path, { label: 'me' })
  const record = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...record, startTicks: record.startTicks - 1 }))
  expect(lockHolder(path)).toBeNull()
  expect(acquireLock(path, { label: 'me' })).not.toBeNull()
})

test('a lock of another host is respected, because it cannot be checked', () => {
  const path = freshPath()
  acquireLock(path, { label: 'me' })
  const record = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...record, pid: 999_999, host: 'elsewhere' }))
  expect(acquireLock(path, { label: 'me' })).toBeNull()
  expect(lockHolder(path)).toMatchObject({ host: 'elsewhere' })
})

test.each(['', '{"pid":', 'null', '{"pid":1,"token":"../../x"}'])(
  'a damaged lock (%j) is replaced',
  (content) => {
    const path = freshPath()
    writeFileSync(path, content)
    expect(lockHolder(path)).toBeNull()
    expect(acquireLock(path, { label: 'me' })).not.toBeNull()
    expect(lockHolder(path)).toMatchObject({ label: 'me' })
  },
)

test('exactly one of many processes takes over a dead lock', async () => {
  const path = freshPath()
  const dead = contender(path)
  expect(await dead.answer).toBe('held')
  await dead.kill()
  const startAt = Date.now() + 700
  const racers = Array.from({ length: 6 }, () => contender(path, startAt))
  const answers = await Promise.all(racers.map((racer) => racer.answer))
  const winner = lockHolder(path)?.pid
  await Promise.all(racers.map((racer) => racer.kill()))
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(1)
  expect(racers.map((racer) => racer.pid)).toContain(winner)
})

test('a process that dies while taking over does not block the lock forever', async () => {
  const path = freshPath()
  const dead = contender(path)
  await dead.answer
  await dead.kill()
  const { token } = JSON.parse(readFileSync(path, 'utf8'))
  const halfway = contender(`${path}.${token}.next`)
  expect(await halfway.answer).toBe('held')
  expect(acquireLock(path, { label: 'me' })).toBeNull()
  await halfway.kill()
  expect(acquireLock(path, { label: 'me' })).not.toBeNull()
})

test('a missing directory is reported, and no file is left', () => {
  const path = join(root, 'nowhere', 'run.lock')
  expect(() => acquireLock(path, { label: 'me' })).toThrow()
  expect(existsSync(join(root, 'nowhere'))).toBe(false)
})
