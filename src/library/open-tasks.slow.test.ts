import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenBoundaryOptions, openBoundary } from './open-boundary.ts'
import { openTasks } from './open-tasks.ts'

const example = join(import.meta.dirname, '../../examples/task/typescript')
const description = 'parseDuration must also take several units, such as 1h30m.'

async function open(model: Pick<OpenBoundaryOptions, 'faults'> = {}) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-library-')))
  const repository = join(top, 'app')
  cpSync(example, repository, { recursive: true })
  const boundary = await openBoundary({ script: join(example, 'model.yaml'), ...model })
  const env = { ...process.env, ...boundary.env, HOME: top, AGENT_ARTIFACT_DIR: join(top, 'store') }
  const tasks = openTasks({ cwd: repository, env })
  onTestFinished(async () => {
    tasks.close()
    await boundary.close()
    rmSync(top, { recursive: true, force: true })
  })
  return { tasks, repository }
}

test('a queued task can be cancelled, and stays visible', async () => {
  const { tasks } = await open()
  const { id } = await tasks.submit({ description, options: { sandbox: 'host' } })
  await expect(tasks.retry(id)).rejects.toMatchObject({ code: 'USAGE' })
  expect(tasks.cancel(id)).toMatchObject({ kind: 'cancelled', task: { id } })
  expect(tasks.show(id).task).toMatchObject({ state: 'CANCELLED', started_at: null })
})

test('a task that ended with an infrastructure error can be retried: a new task does it', async () => {
  const { tasks } = await open({ faults: ['401@0'] })
  const { id } = await tasks.submit({ description, options: { sandbox: 'host' } })
  await tasks.work()
  expect(tasks.show(id).task.state).toBe('INFRA_ERROR')
  const kinds: string[] = []
  const { task, diff } = await tasks.retry(id, ({ kind }) => kinds.push(kind))
  expect(task).toMatchObject({ state: 'SUCCESS', description })
  expect(task.id).not.toBe(id)
  expect(diff).toContain('src/')
  expect(kinds.at(-1)).toBe('task_ended')
})

test('the proposal of a dry run changes nothing until it is applied', async () => {
  const { tasks, repository } = await open()
  const source = () => readFileSync(join(repository, 'src/parse-duration.ts'), 'utf8')
  const before = source()
  const { id } = await tasks.submit({ description, dryRun: true, options: { sandbox: 'host' } })
  await expect(tasks.apply(id)).rejects.toMatchObject({
    code: 'WRONG_STATE',
    message: expect.stringContaining('has no proposal'),
  })
  await tasks.work()
  expect(tasks.show('latest').task).toMatchObject({ id, state: 'SUCCESS', dry_run: true })
  expect(source()).toBe(before)
  const { task } = await tasks.apply(id)
  expect(task.state).toBe('SUCCESS')
  expect(source()).not.toBe(before)
})
