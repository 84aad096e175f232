import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sampleRecord } from '../../../test/support/sample-run.ts'
import { openServerLab } from '../../../test/support/server-lab.ts'
import { readProcess } from '../../io/process-table.ts'
import { createRun } from '../../store/create-run.ts'
import type { FeedSink } from '../feed/contract.ts'
import { fanOutLimits } from '../feed/fan-out.ts'
import { runFollowers } from './run-followers.ts'

/** A live run and clients in memory, which take everything at once or only on demand. */
function openLab(limits = fanOutLimits) {
  const { store } = openServerLab()
  const run = createRun(store, { kind: 'scenario', title: 'notes', argv: [], cwd: store.root })
  const problems: unknown[] = []
  const followers = runFollowers(store, (error) => problems.push(error), limits)
  onTestFinished(() => followers.close())
  const follow = (isStuck = false) => {
    const sink: FeedSink & { text: string; isStuck: boolean; state: string } = {
      text: '',
      isStuck,
      state: 'open',
      pendingBytes: 0,
      write(bytes) {
        sink.text += Buffer.from(bytes).toString('utf8')
        return !sink.isStuck
      },
      end() {
        sink.state = 'ended'
      },
      destroy() {
        sink.state = 'destroyed'
      },
    }
    return { sink, ...followers.subscribe(sink, run.id, 0) }
  }
  let count = 0
  const finish = (reason = ''): void => {
    count += 1
    const record = sampleRecord({ id: `t${count}`, attempt: count, reason })
    run.openTrial(record.id)
    run.finishTrial(record)
  }
  return { run, follow, finish, problems }
}

const trialsIn = ({ text }: { readonly text: string }): number => text.match(/^event: trial$/gm)?.length ?? 0

test('a follower learns that the process of the run was killed, although no file changes', async () => {
  const { run, follow, finish } = openLab()
  const child = spawn('sleep', ['1000'])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const lock = join(run.dir, 'lock')
  await expect.poll(() => readProcess(pid)?.runsProgram).toBe(true)
  const startTicks = readProcess(pid)?.startTicks ?? null
  writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), pid, startTicks }))
  finish()
  const { sink } = follow()
  await expect.poll(() => trialsIn(sink)).toBe(1)
  expect(sink.state).toBe('open')
  child.kill('SIGKILL')
  await expect.poll(() => sink.state).toBe('ended')
  expect(sink.text).toMatch(/event: run\ndata: {"status":"interrupted"}\n\n$/)
})

test('a slow follower gets the rest and the end, and one that reads nothing is disconnected', async () => {
  const { run, follow, finish } = openLab()
  const { sink, drained } = follow(true)
  const [reader, { sink: stuck }] = [follow(), follow(true)]
  finish()
  await run.end({ status: 'pass' })
  await expect.poll(() => reader.sink.state).toBe('ended')
  expect(sink.text).not.toContain('event: ')
  sink.isStuck = false
  drained()
  await expect.poll(() => sink.state).toBe('ended')
  expect(trialsIn(sink)).toBe(1)
  expect(sink.text).toMatch(/event: run\ndata: {"status":"pass"}\n\n$/)
  expect(stuck.state).toBe('open')
  const impatient = openLab({ ...fanOutLimits, stallMs: 0 }).follow(true)
  await expect.poll(() => impatient.sink.state).toBe('destroyed')
})

test('followers of a run that was deleted are told', async () => {
  const { run, follow } = openLab()
  const { sink } = follow()
  rmSync(run.dir, { recursive: true })
  await expect.poll(() => sink.state).toBe('ended')
  expect(sink.text).toMatch(/event: run\ndata: {"status":"unknown"}\n\n$/)
})

test('many followers from the beginning of a long log leave room for other work', async () => {
  const { run, follow, finish } = openLab()
  const parts = 6
  for (let n = 0; n < parts; n += 1) finish('x'.repeat(300_000))
  const followers = Array.from({ length: 30 }, () => follow())
  const turns: number[] = []
  let isOver = false
  const count = (): void => {
    turns.push(trialsIn(followers[0]?.sink ?? { text: '' }))
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await expect.poll(() => followers.every(({ sink }) => trialsIn(sink) === parts)).toBe(true)
  isOver = true
  // Requests are answered between any two parts.
  expect([...new Set(turns)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6])
  await run.end({ status: 'pass' })
  await expect.poll(() => followers.every(({ sink }) => sink.state === 'ended')).toBe(true)
})

test('a follower is told when a trial begins', async () => {
  const { run, follow } = openLab()
  const { sink } = follow()
  const told = (): number => sink.text.split('event: changed\n').length
  await expect.poll(told).toBe(2)
  run.openTrial('t1')
  await expect.poll(told).toBe(3)
})
