import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../open-store.ts'
import type { TaskQueue } from './contract.ts'
import { openQueue } from './open-queue.ts'

let root: string
let queue: TaskQueue
const children: ChildProcess[] = []

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-queue-'))
  queue = openQueue(openStore({ env: {}, cwd: root, root }))
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  queue.close()
  rmSync(root, { recursive: true, force: true })
})

function start(body: string): ChildProcess {
  const program = `
    import { openQueue } from '${import.meta.dirname}/open-queue.ts'
    import { openStore } from '${import.meta.dirname}/../open-store.ts'
    const queue = openQueue(openStore({ env: {}, cwd: '${root}', root: '${root}' }))
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

async function outputOf(child: ChildProcess, until: (text: string) => boolean): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    if (until(text)) break
  }
  return text
}

function submit(count: number, repository: (n: number) => string, options = {}): void {
  for (let n = 0; n < count; n += 1)
    queue.submit({
      repository: repository(n),
      description: `${n}`,
      dryRun: false,
      verbose: false,
      options,
    })
}

test('concurrent workers get different tasks, and every task runs once', async () => {
  submit(60, (n) => `/home/dev/${n}`)
  const worker = `
    for (let next = queue.claim(); next !== null; next = queue.claim()) {
      console.log(next.task.description)
      queue.append(next.task.id, { done: next.task.description }, 'detail')
      queue.end(next.task.id, { state: 'SUCCESS', summary: null, error_message: null })
    }`
  const outputs = await Promise.all([1, 2, 3, 4].map(() => outputOf(start(worker), () => false)))
  const done = outputs.flatMap((text) => text.split('\n').filter((line) => line !== ''))
  expect(done.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n))
  expect(queue.list({ states: ['SUCCESS'] })).toHaveLength(60)
  expect(queue.lastEventId()).toBe(60)
})

test('two workers never work in the tree of one repository at once', async () => {
  submit(20, () => '/home/dev/app', { here: true })
  const worker = `
    for (;;) {
      const next = queue.claim()
      if (next === null) {
        if (queue.list({ states: ['QUEUED', 'RUNNING'] }).length === 0) break
        await new Promise((resolve) => setTimeout(resolve, 2))
        continue
      }
      queue.append(next.task.id, { at: 'begin' }, 'detail')
      await new Promise((resolve) => setTimeout(resolve, 3))
      queue.append(next.task.id, { at: 'end' }, 'detail')
      queue.end(next.task.id, { state: 'SUCCESS', summary: null, error_message: null })
    }`
  await Promise.all([1, 2, 3].map(() => outputOf(start(worker), () => false)))
  const marks = queue.events({ afterId: 0, limit: 100 }).map(({ event }) => event.at)
  expect(marks).toEqual(Array.from({ length: 20 }, () => ['begin', 'end']).flat())
})

test('the task of a killed worker is resumed by the next one, with all its events', async () => {
  submit(2, () => '/home/dev/app')
  const child = start(`
    const { task } = queue.claim()
    queue.update(task.id, { run_ids: ['run_a'], current_attempt: 1 })
    for (let n = 0; ; n += 1) { queue.append(task.id, { n }, 'detail'); if (n === 20) console.log('on') }`)
  await outputOf(child, (text) => text.includes('on'))
  child.kill('SIGKILL')
  await expect.poll(() => child.signalCode).toBe('SIGKILL')
  const next = queue.claim()
  expect(next).toMatchObject({
    resumed: true,
    task: { description: '0', run_ids: ['run_a'], current_attempt: 1 },
  })
  const ids = queue.events({ afterId: 0, limit: 100_000 }).map(({ event }) => event.n)
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => n))
})
