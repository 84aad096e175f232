import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answers, enginePid, launchEngine, stopEngine } from '../../../scripts/sandboxes/test-engine.ts'
import { importSmallImage } from '../../../scripts/sandboxes/test-images.ts'
import { removeEngine } from '../../support/remove-engine.ts'
import { testDocker } from '../../support/sandboxes.ts'
import {
  afterwards,
  again,
  makeRepository,
  manifestOf,
  only,
  runsOf,
  sum,
  task,
  taskReport,
  taskRun,
  tested,
  waitingRun,
  waitingStep,
} from './lab.ts'
import { openModel } from './model.ts'

const { dockerTest, dockerHost, noShellImage } = await testDocker()

test.concurrent('a model that is gone in the middle: one try and three retries, then INFRA_ERROR with a report', async () => {
  const model = await openModel({ edits: () => [sum('*'), tested()] })
  model.dieAt('diagnosis')
  const project = makeRepository()
  const run = await taskRun(project, model)
  expect(run.code).toBe(3)
  expect(run.end).toMatchObject({
    state: 'INFRA_ERROR',
    attempts: 1,
    report: expect.stringMatching(/reports\/stuck_report\.md$/),
  })
  expect(only(run, 'scout_query').at(-1)).toMatchObject({ scout: 'scout_b', success: false, tries: 4 })
  expect(model.count('diagnosis')).toBe(0)
  const report = await taskReport(project, run.end.task_id)
  expect(report).toContain('## Infrastructure Error')
  expect(report).toContain(run.end.run_ids[0])
  expect(project.read('src/add.js')).toContain('a - b')
  expect((await task(project, null, ['show', run.end.task_id, '--diff'])).stdout).toContain('a * b')
})

test.concurrent('a model that is gone before anything was written leaves a clean tree; the retry goes on', async () => {
  const model = await openModel()
  model.dieAt('scout_a')
  const project = makeRepository()
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'INFRA_ERROR', attempts: 0, run_ids: [] })
  expect(project.read('src/add.js')).toContain('a - b')
  const mended = await openModel({ edits: () => [sum('+'), tested()] })
  const retried = await again('retry', project, mended, run.end.task_id)
  expect(retried.end, retried.stdout).toMatchObject({ state: 'SUCCESS' })
  for (const id of runsOf(project)) expect(manifestOf(project, id)).toMatchObject({ flags: { stuck: false } })
})

test.concurrent('an answer of a Scout that fits no schema is not asked for again', async () => {
  const model = await openModel({ scoutB: { schema_version: '2' } })
  const project = makeRepository()
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'INFRA_ERROR' })
  expect(model.asked).toEqual(['scout_a', 'scout_b'])
  expect(run.end.reason).toContain('schema')
})

dockerTest.concurrent(
  'an engine killed in the middle of a verification is INFRA_ERROR at once, and is not tried again',
  async () => {
    const engine = await ownEngine()
    const project = makeRepository({ steps: [waitingStep], verification: { container_image: 'small:local' } })
    const model = await openModel({ edits: () => [sum('*'), tested()] })
    const running = taskRun(project, model, ['--sandbox', 'docker'], {
      env: { DOCKER_HOST: engine.dockerHost },
    })
    const verification = await waitingRun(project)
    process.kill(enginePid(engine.directory) ?? 0, 'SIGKILL')
    const run = await running
    expect(run.code).toBe(3)
    expect(run.end).toMatchObject({ state: 'INFRA_ERROR', attempts: 1, replans: 0 })
    expect(run.end.reason).toContain('docker_unavailable')
    expect(only(run, 'verifier_result')).toMatchObject([{ status: 'INFRA_ERROR' }])
    expect(manifestOf(project, verification)).toMatchObject({ status: 'infra' })
    const report = await taskReport(project, run.end.task_id)
    expect(report).toContain('docker_unavailable')
    expect(report).toContain('## Infrastructure Error')
    expect(project.read('src/add.js')).toContain('a - b')
  },
)

dockerTest.concurrent.each([
  ['an image without a shell', noShellImage, 'container_creation'],
  ['an image that nobody has', '127.0.0.1:1/none:1', 'image_pull'],
])('%s is INFRA_ERROR of its own type, before a model is asked', async (_, image, type) => {
  const project = makeRepository({ verification: { container_image: image } })
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const run = await taskRun(project, model, ['--sandbox', 'docker'], { env: { DOCKER_HOST: dockerHost } })
  expect(run.end, run.stderr).toMatchObject({ state: 'INFRA_ERROR', attempts: 0 })
  expect(run.end.reason).toContain(type)
  expect(model.asked).toEqual([])
})

/** An engine that a test may kill. */
async function ownEngine(): Promise<{ readonly directory: string; readonly dockerHost: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-engine-'))
  const host = `unix://${join(directory, 'docker.sock')}`
  afterwards(async () => {
    await stopEngine(directory)
    removeEngine(directory)
  })
  await launchEngine(directory)
  while (!(await answers(host))) await sleep(50)
  importSmallImage(host, 'small:local')
  return { directory, dockerHost: host }
}
