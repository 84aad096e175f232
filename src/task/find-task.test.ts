import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { QueuedTask } from '../store/queue/contract.ts'
import { findTask } from './find-task.ts'

test('latest is the newest task of the repository around the working directory, never one of another', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-find-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const name of ['c', 'js', 'new']) {
    for (const inside of ['src', '.git']) mkdirSync(join(root, name, inside), { recursive: true })
    writeFileSync(join(root, name, '.git/HEAD'), 'ref: refs/heads/main\n')
  }
  const task = (id: string, repository: string, created_at: string) =>
    ({ id, created_at, repository: join(root, repository), position: null }) as QueuedTask
  const tasks = [task('old', 'c', '2026-01-01'), task('young', 'c', '2026-01-02')]
  const queue = { list: () => [...tasks, task('other', 'js', '2026-01-03')] }
  expect(findTask(queue, 'latest', join(root, 'c/src')).id).toBe('young')
  expect(findTask(queue, 'latest', join(root, 'js')).id).toBe('other')
  expect(findTask(queue, 'other', join(root, 'c')).id).toBe('other')
  for (const [list, hint] of [
    [queue.list, `Name a task by its id. The newest of all is other, of ${join(root, 'js')}.`],
    [() => [], 'Start one with gantry task run.'],
  ] as const)
    expect(() => findTask({ list }, 'latest', join(root, 'new'))).toThrow(
      expect.objectContaining({
        code: 'NOT_FOUND',
        message: `there is no task of ${join(root, 'new')}`,
        hint,
      }),
    )
})
