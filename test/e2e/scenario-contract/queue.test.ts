import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { version } from '../../../src/core/version.ts'
import { openSqlite } from '../../../src/io/sql.ts'
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
async function through(
  lab: TestProject,
  argv: readonly string[] = agents,
  env: Readonly<Record<string, string>> = {},
) {
  const queue = `sqlite:${join(lab.store, '..', 'queue.db')}`
  const test = gantry(lab, ['test', ...argv, '--json', '--queue', queue], { env })
  const over = new AbortController()
  const worker = gantry(lab, ['work', '--queue', queue], { cwd: lab.home, signal: over.signal, env })
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

/** A machine of its own: a directory of programs that comes first on its PATH. */
function machine(lab: TestProject, name: string, tool: string | null): { PATH: string } {
  const bin = join(lab.home, name)
  mkdirSync(bin)
  if (tool !== null) writeFileSync(join(bin, 'special-agent'), `#!/bin/sh\n${tool}\n`, { mode: 0o755 })
  return { PATH: `${bin}:${process.env.PATH}` }
}

describe('what a worker has', () => {
  const special = (): TestProject =>
    smallProject({
      config: { agents: { special: { driver: 'command', command: ['special-agent'], output: 'text' } } },
    })
  const queueOf = (lab: TestProject): string => `sqlite:${join(lab.store, '..', 'queue.db')}`
  const waits = async (lab: TestProject): Promise<string[]> => {
    if (!existsSync(join(lab.store, '..', 'queue.db'))) return []
    const { stdout } = await gantry(lab, ['queue', 'status', '--json', '--queue', queueOf(lab)])
    return stdout === '' ? [] : JSON.parse(stdout).waits.map(({ why }: { why: string }) => why)
  }

  test('a trial that no worker can run is reported with the reason, and goes to the first that can', async () => {
    using lab = special()
    const queue = queueOf(lab)
    const env = machine(lab, 'submitter', 'touch done.txt')
    const submitted = gantry(lab, ['test', '--agent', 'special', '--queue', queue], { env })
    await expect.poll(() => waits(lab)).toEqual(['no worker is running; start one with "gantry work"'])
    const over = new AbortController()
    const without = gantry(lab, ['work', '--queue', queue], { cwd: lab.home, signal: over.signal })
    await expect
      .poll(() => waits(lab), { timeout: 20_000 })
      .toEqual([
        expect.stringContaining("no worker can run agent 'special': 1 worker refused: agent 'special'"),
      ])
    const listed = await gantry(lab, ['runs', 'list', '--queue', queue])
    expect(listed.stdout).toMatch(
      /^Queue:\n {2}run_\w+: 0 of 1 trial ended, 0.0 per minute\n.*cannot start: no worker can run/,
    )
    expect(listed.stdout).toContain('\n  1 worker with 0 trials under way.\n')
    const able = await gantry(lab, ['work', '--until-empty', '--queue', queue], { cwd: lab.home, env })
    const { code, stdout, stderr } = await submitted
    over.abort()
    expect((await without).stderr).toContain("agent 'special' cannot be used")
    expect(able.stdout).toBe('Worked on 1 trial.\n')
    expect(stdout + stderr).toContain('1 trial cannot start: no worker is running')
    expect(code).toBe(0)
  })

  test('an agent of another version is refused, unless that is allowed, and then recorded', async () => {
    using lab = special()
    const queue = queueOf(lab)
    const env = machine(lab, 'submitter', 'touch done.txt')
    const other = machine(lab, 'other', 'touch done.txt # of another version')
    const test = ['test', '--agent', 'special', '--json', '--queue', queue]
    const allowed = gantry(lab, [...test, '--any-agent-version'], { env })
    const strict = gantry(lab, test, { env })
    await expect.poll(async () => (await waits(lab)).length).toBe(2)
    const work = ['work', '--until-empty', '--queue', queue]
    const refused = await gantry(lab, work, { cwd: lab.home, env: other })
    expect(refused.stdout).toBe('Worked on 1 trial.\n')
    expect(refused.stderr).toContain("agent 'special' differs from that of the submitter")
    const [trial] = (JSON.parse((await allowed).stdout) as RunDocument).trials
    expect(trial?.warnings).toEqual(['special unknown of a worker differs from that of the submitter'])
    expect((await gantry(lab, work, { cwd: lab.home, env })).stdout).toBe('Worked on 1 trial.\n')
    expect((JSON.parse((await strict).stdout) as RunDocument).trials[0]?.warnings).toEqual([])
  })

  test('a worker of another version of Gantry gets nothing', async () => {
    using lab = project()
    const queue = queueOf(lab)
    const leave = new AbortController()
    const submitted = gantry(lab, ['test', '--agent', 'worker', '--queue', queue], { signal: leave.signal })
    await expect.poll(async () => (await runsOf(lab, queue)).length).toBe(1)
    const sql = openSqlite(queue.replace('sqlite:', ''))
    await sql.query('UPDATE lanes SET need = replace(need, $1, $2)', [
      `"gantry":"${version}"`,
      '"gantry":"99.0.0"',
    ])
    await sql.close()
    const over = new AbortController()
    const worker = gantry(lab, ['work', '--queue', queue], { signal: over.signal })
    await expect
      .poll(() => waits(lab), { timeout: 20_000 })
      .toEqual([`no worker can run agent 'worker': 1 worker has Gantry ${version}, not 99.0.0`])
    over.abort()
    expect((await worker).stdout).toBe('Worked on 0 trials.\n')
    leave.abort()
    expect((await submitted).code).toBe(130)
  })

  test('a run that another version planned is not followed, and nothing is stored', async () => {
    using lab = project()
    const queue = queueOf(lab)
    const leave = new AbortController()
    const submitted = gantry(lab, ['test', '--agent', 'worker', '--queue', queue], { signal: leave.signal })
    await expect.poll(async () => (await runsOf(lab, queue)).length).toBe(1)
    leave.abort()
    expect((await submitted).stdout).toMatch(/Continue with: gantry runs follow run_\w+\n/)
    // It would run here what workers run already.
    const resumed = await gantry(lab, ['test', '--resume', 'latest'])
    expect(resumed.stderr).toContain('Continue it with: gantry runs follow run_')
    expect(resumed.code).toBe(2)
    const sql = openSqlite(queue.replace('sqlite:', ''))
    await sql.query('UPDATE runs SET document = replace(document, $1, $2)', [
      `"gantry":"${version}"`,
      '"gantry":"99.0.0"',
    ])
    await sql.close()
    const [run = ''] = await runsOf(lab, queue)
    const env = { AGENT_ARTIFACT_DIR: join(lab.home, 'elsewhere') }
    const { code, stderr } = await gantry(lab, ['runs', 'follow', run, '--queue', queue], { env })
    expect(stderr).toContain(`${run} was planned by Gantry 99.0.0, and this is ${version}`)
    expect(stderr).toContain('Follow it with that version.')
    expect(code).toBe(2)
    expect(existsSync(join(env.AGENT_ARTIFACT_DIR, 'runs'))).toBe(false)
  })

  test('a machine with too little memory gets nothing, and the list of workers shows what each has', async () => {
    using lab = project()
    const queue = queueOf(lab)
    const leave = new AbortController()
    const argv = ['test', '--agent', 'worker', '--worker-memory', '999999999', '--queue', queue]
    const submitted = gantry(lab, argv, { signal: leave.signal })
    const over = new AbortController()
    const worker = gantry(lab, ['work', '--label', 'gpu', '--queue', queue], { signal: over.signal })
    await expect
      .poll(() => waits(lab), { timeout: 20_000 })
      .toEqual([expect.stringMatching(/1 worker has \d+ MB of memory, not 999999999/)])
    const list = JSON.parse((await gantry(lab, ['queue', 'workers', '--json', '--queue', queue])).stdout)
    expect(list).toMatchObject([
      { agents: { builtin: expect.any(String) }, labels: expect.arrayContaining(['gpu']) },
    ])
    const stopped = await gantry(lab, [
      'queue',
      'stop',
      (await runsOf(lab, queue))[0] ?? '',
      '--queue',
      queue,
    ])
    expect(stopped.stdout).toBe('Stopped 2 trials.\n')
    over.abort()
    await worker
    expect((await submitted).stdout).toContain('2 planned trials did not run: the run was stopped')
    leave.abort()
  })
})

test('commands that steer a queue print what they did, and refuse what is not there', async () => {
  using lab = project()
  const queue = async (...argv: string[]) => {
    const { code, stdout, stderr } = await gantry(lab, ['queue', ...argv, '--queue', 'sqlite:queue.db'])
    return `${code} ${stdout}${stderr}`.trim()
  }
  expect(await queue('pause', 'p/m', '--for', '2h')).toBe('0 No trials of p/m start for 2h.')
  expect(await queue('pause')).toBe('0 No trials start until "gantry queue resume".')
  expect(await queue('resume')).toBe('0 Resumed trials.')
  expect(await queue('status')).toBe('0 0 workers with 0 trials under way.')
  expect(await queue('workers')).toBe('0 No worker is running.')
  expect(await queue('limit', 'p/m', '3')).toBe('0 Trials of p/m run at most 3 at a time.')
  expect(await queue('limit', 'p/m', 'none')).toBe('0 Trials of p/m run without a limit.')
  expect(await queue('stop', 'nothing')).toContain('2 error: the queue has no run "nothing"')
  expect(await queue('drain', 'nothing')).toContain('2 error: the queue has no worker "nothing"')
  expect(await queue('drain')).toBe('0 Asked 0 workers.')
})

async function runsOf(lab: TestProject, queue: string): Promise<string[]> {
  if (!existsSync(queue.replace('sqlite:', ''))) return []
  const { stdout } = await gantry(lab, ['queue', 'status', '--json', '--queue', queue])
  return stdout === '' ? [] : JSON.parse(stdout).runs.map(({ id }: { id: string }) => id)
}

test('blobs can be in a directory that all machines share', async () => {
  using lab = project()
  const blobs = join(lab.home, 'blobs')
  const queue = `sqlite:${join(lab.store, '..', 'queue.db')}`
  const argv = ['--agent', 'worker', '--json', '--queue', queue, '--blobs', blobs]
  expect((await gantry(lab, ['test', ...argv])).stderr).toContain('blobs is not a directory')
  mkdirSync(blobs)
  const submitted = gantry(lab, ['test', ...argv])
  await expect.poll(async () => (await runsOf(lab, queue)).length).toBe(1)
  const work = ['work', '--until-empty', '--queue', queue]
  expect((await gantry(lab, work, { cwd: lab.home })).stderr).toMatch(
    /this worker cannot run trials of run_\w+: the queue has no blob/,
  )
  const { stdout } = await gantry(lab, work, { cwd: lab.home, env: { GANTRY_BLOBS: blobs } })
  expect(stdout).toBe('Worked on 2 trials.\n')
  const { code, stdout: printed } = await submitted
  const { run_id, trials } = JSON.parse(printed) as RunDocument
  expect([code, trials.map(({ dir }) => existsSync(join(dir, 'fixture/done.txt')))]).toEqual([
    0,
    [true, true],
  ])
  rmSync(lab.store, { recursive: true })
  const followed = await gantry(lab, ['runs', 'follow', run_id, '--json', '--queue', queue])
  expect(followed.code).toBe(0)
  expect((JSON.parse(followed.stdout) as RunDocument).trials[0]?.warnings).toEqual([
    expect.stringMatching(/^its files are lost: the queue has no blob/),
  ])
})

test('one budget applies to all workers', async () => {
  using lab = smallProject({
    turns: [{ usage: { input_tokens: 10, cost_usd: 0.4 } }, writes('done.txt')],
  })
  const { run, code, queue } = await through(lab, ['--repeat', '5', '--max-cost-usd', '1', '--strict'])
  expect(run.summary).toMatchObject({ counts: { pass: 2 }, notRun: 3, costUsd: 0.8, verdict: 'partial' })
  expect(code).toBe(4)
  const again = await gantry(lab, ['runs', 'follow', run.run_id, '--queue', queue])
  expect(again.stdout).toMatch(/Continue with: gantry test --resume run_\w+ --max-cost-usd USD\n/)
  // Workers have nothing left of it.
  const rest = await gantry(lab, ['test', '--resume', 'latest', '--max-cost-usd', '9'])
  expect([rest.stderr, rest.code]).toEqual(['', 0])
})

test('a usage limit pauses its group on all machines, and no trial fails by it', async () => {
  const limited = '{"event":"error","reason":"rate_limit","message":"slow down"}'
  using lab = smallProject({
    config: {
      agents: {
        first: {
          driver: 'command',
          command: ['sh', '-c', `if mkdir "$MARK"; then echo '${limited}'; exit 1; fi; touch done.txt`],
          output: 'events',
          inherit_env: ['MARK'],
        },
      },
    },
  })
  const { run, code } = await through(lab, ['--agent', 'first', '--repeat', '3'], { MARK: lab.path('mark') })
  expect(run.summary).toMatchObject({ counts: { pass: 3 }, notRun: 0 })
  expect(run.trials.map(({ infraRetries }) => infraRetries)).toEqual([0, 0, 0])
  expect(code).toBe(0)
})

test('the submitter lets the judge compare the answers of two agents, as on one machine', async () => {
  using lab = smallProject({
    scenario: {
      evaluation: {
        gates: [{ type: 'file_exists', path: 'done.txt' }],
        judge: { enabled: true, mode: 'pairwise', rubric: 'r.yaml' },
      },
    },
    config: {
      agents: {
        worker: { driver: 'scripted', script: 'agents/worker.yaml' },
        other: { driver: 'scripted', script: 'agents/other.yaml' },
      },
    },
    files: {
      'agents/other.yaml': agentScript([writes('done.txt', 'better\n')]),
      'r.yaml': { criteria: [{ id: 'taste', weight: 1, description: 'It tastes good.' }] },
      'judge.yaml': {
        answers: [{ json: { winner: 'A', reason: 'x' } }, { json: { winner: 'B', reason: 'x' } }],
      },
    },
  })
  const argv = ['--agent', 'worker,other', '--judge-model', 'scripted:judge.yaml']
  const { run, queue, code } = await through(lab, argv)
  const alone = await gantry(lab, ['test', ...argv, '--json', '--no-cache'])
  const here = JSON.parse(alone.stdout) as RunDocument
  expect(here.comparisons?.[0]?.preference).not.toBeNull()
  expect(run.comparisons?.[0]?.preference).toEqual(here.comparisons?.[0]?.preference)
  expect(code).toBe(alone.code)
  const env = { AGENT_ARTIFACT_DIR: join(lab.home, 'elsewhere') }
  const followed = await gantry(lab, ['runs', 'follow', run.run_id, '--queue', queue], { env })
  expect(followed.stdout + followed.stderr).toContain(
    'only the submitter of the run compares its answers pairwise',
  )
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
