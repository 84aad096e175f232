import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry, type RunDocument } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

function project(): TestProject {
  return smallProject({
    config: {
      agents: {
        worker: { driver: 'scripted', script: 'agents/worker.yaml' },
        lazy: { driver: 'scripted', script: 'agents/lazy.yaml' },
      },
    },
    files: {
      'agents/lazy.yaml': agentScript([writes('other.txt')]),
      'scenarios/find.yaml': smallScenario({ name: 'find' }),
    },
  })
}

const agents = ['--agent', 'worker,lazy', '--repeat', '2']

/** Submits, and works until the queue is empty, as another machine would: in another directory, with another store. */
async function through(lab: TestProject, argv: readonly string[] = agents) {
  const queue = `sqlite:${join(lab.store, '..', 'queue.db')}`
  const test = gantry(lab, ['test', ...argv, '--json', '--queue', queue])
  const over = new AbortController()
  const worker = gantry(lab, ['work', '--queue', queue], { cwd: lab.home, signal: over.signal })
  const submitted = await test
  over.abort()
  const worked = await worker
  return { ...submitted, queue, worked, run: JSON.parse(submitted.stdout || '{}') as RunDocument }
}

describe('gantry test --queue', () => {
  test('a worker without the project makes the run that this machine would have made', async () => {
    using lab = project()
    const { code, run, queue, worked } = await through(lab)
    expect(code).toBe(1)
    expect(worked).toMatchObject({ code: 0, stdout: 'Worked on 8 trials.\n' })
    expect(run.summary).toMatchObject({ verdict: 'fail', counts: { pass: 4, fail: 4 }, notRun: 0 })
    for (const { dir, verdict } of run.trials) {
      expect(dir.startsWith(run.run_dir)).toBe(true)
      expect(existsSync(join(dir, 'fixture/done.txt'))).toBe(verdict === 'pass')
    }
    const alone = await gantry(lab, ['test', ...agents, '--json', '--no-cache'])
    const here = JSON.parse(alone.stdout) as RunDocument
    expect(run.summary.passRate).toEqual(here.summary.passRate)
    expect(run.trials.map(({ id, verdict }) => [id, verdict])).toEqual(
      here.trials.map(({ id, verdict }) => [id, verdict]),
    )
    rmSync(lab.store, { recursive: true })
    const followed = await gantry(lab, ['runs', 'follow', run.run_id, '--json', '--queue', queue])
    expect(followed.code).toBe(1)
    expect((JSON.parse(followed.stdout) as RunDocument).trials).toHaveLength(8)
    const status = await gantry(lab, ['queue', 'status', '--json', '--queue', queue])
    expect(JSON.parse(status.stdout)).toMatchObject({ runs: [{ id: run.run_id, planned: 8, settled: 8 }] })
  })

  test('a run that its submitter left is finished by workers and followed later', async () => {
    using lab = project()
    const queue = `sqlite:${join(lab.store, '..', 'queue.db')}`
    const leave = new AbortController()
    const left = gantry(lab, ['test', '--agent', 'worker', '--json', '--queue', queue], {
      signal: leave.signal,
    })
    await expect
      .poll(async () => {
        if (!existsSync(join(lab.store, '..', 'queue.db'))) return 0
        const { stdout } = await gantry(lab, ['queue', 'status', '--json', '--queue', queue])
        return stdout === '' ? 0 : JSON.parse(stdout).runs.length
      })
      .toBe(1)
    leave.abort()
    const { code, stdout } = await left
    expect(code).toBe(130)
    const { run_id } = JSON.parse(stdout) as RunDocument
    await gantry(lab, ['work', '--queue', queue, '--until-empty'], { cwd: lab.home })
    const followed = await gantry(lab, ['runs', 'follow', run_id, '--json', '--queue', queue])
    expect(followed.code).toBe(0)
    expect((JSON.parse(followed.stdout) as RunDocument).summary).toMatchObject({
      verdict: 'pass',
      counts: { pass: 2 },
    })
  })
})

test('a trial with a label waits for a worker that has it', async () => {
  using lab = project()
  const queue = `sqlite:${join(lab.store, '..', 'queue.db')}`
  const submitted = gantry(lab, ['test', '--agent', 'worker', '--worker-label', 'gpu', '--queue', queue])
  const waiting = async (): Promise<number> => {
    if (!existsSync(join(lab.store, '..', 'queue.db'))) return 0
    const { stdout } = await gantry(lab, ['queue', 'status', '--json', '--queue', queue])
    return stdout === '' ? 0 : JSON.parse(stdout).runs.length
  }
  await expect.poll(waiting).toBe(1)
  const work = ['work', '--until-empty', '--queue', queue]
  expect((await gantry(lab, work)).stdout).toBe('Worked on 0 trials.\n')
  expect((await gantry(lab, [...work, '--label', 'gpu'])).stdout).toBe('Worked on 2 trials.\n')
  expect((await submitted).code).toBe(0)
})

describe('bad input', () => {
  test.each<[string[], number, string]>([
    [['test', '--agent', 'worker', '--queue', 'postgres://x@127.0.0.1:1/none'], 3, 'cannot be reached'],
    [['test', '--agent', 'worker', '--queue', 'redis://x'], 2, 'is not the address of a queue'],
    [
      ['test', '--agent', 'worker', '--queue', 'sqlite:q.db', '--shard', '1/2'],
      2,
      '--queue cannot be combined',
    ],
    [['work'], 2, 'no queue was named'],
    [['work', '--queue', 'sqlite:q.db', '--only', 'codex'], 2, 'is not agent=NAME'],
    [['runs', 'follow', 'run_1', '--queue', 'sqlite:q.db'], 2, 'the queue has no run'],
  ])('%j', async (argv, code, message) => {
    using lab = project()
    const result = await gantry(lab, argv)
    expect(result.stderr).toContain(message)
    expect(result.code).toBe(code)
    expect(existsSync(join(lab.store, 'runs'))).toBe(false)
  })
})
