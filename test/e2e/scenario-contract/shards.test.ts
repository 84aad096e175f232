import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RunSummary } from '../../../src/core/summary.ts'
import { createRun } from '../../../src/store/create-run.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { gantry, gantryTest, type RunDocument } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

/** Three cases and two agents. The lazy one fails. */
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
      'scenarios/merge.yaml': smallScenario({ name: 'merge' }),
    },
  })
}

const agents = ['--agent', 'worker,lazy', '--repeat', '2']

/** Each shard on a machine of its own: another store, and no history. */
async function shard(lab: TestProject, part: string, argv: readonly string[] = agents): Promise<RunDocument> {
  const env = { AGENT_ARTIFACT_DIR: join(lab.store, '..', `machine-${part.replace('/', '-')}`) }
  return gantryTest(lab, [...argv, '--shard', part, '--reporter', 'blob:blobs'], { env })
}

async function merge(lab: TestProject, argv: readonly string[] = ['blobs']) {
  const result = await gantry(lab, ['runs', 'merge', '--json', ...argv])
  return { ...result, run: JSON.parse(result.stdout || '{}') as RunDocument }
}

/** What does not depend on the machine or the time. */
function comparable({ durationMs: _, cases, ...rest }: RunSummary): unknown {
  return {
    ...rest,
    cases: cases.map(({ case: name, agent, counts, passRate }) => ({ name, agent, counts, passRate })),
  }
}

describe('gantry runs merge', () => {
  test('makes the run that one machine would have made, also for compare, report, regrade and label', async () => {
    using lab = project()
    const whole = await gantryTest(lab, agents)
    for (const part of ['1/2', '2/2']) await shard(lab, part)
    expect(readdirSync(lab.path('blobs')).sort()).toEqual(['shard-1-of-2.blob', 'shard-2-of-2.blob'])
    const { code, run } = await merge(lab)
    expect(code).toBe(1)
    expect(comparable(run.summary)).toEqual(comparable(whole.summary))
    expect(run.trials.map(({ id }) => id)).toEqual(whole.trials.map(({ id }) => id))
    for (const { dir, verdict } of run.trials)
      expect(existsSync(join(dir, 'fixture/done.txt'))).toBe(verdict === 'pass')
    const compared = await gantry(lab, ['compare', whole.run_id, run.run_id, '--json'])
    expect(JSON.parse(compared.stdout)).toMatchObject({ pairs: 3, left_out: [] })
    lab.write({
      'scenarios/find.yaml': smallScenario({
        name: 'find',
        evaluation: { gates: [{ type: 'file_exists', path: 'other.txt' }] },
      }),
    })
    const regraded = await gantry(lab, ['runs', 'regrade', run.run_id, '--json'])
    expect(JSON.parse(regraded.stdout).regrade.changed).toHaveLength(4)
    const labelled = await gantry(lab, ['label', run.run_id, run.trials[0]?.id ?? '', 'fail', '--note', 'no'])
    expect(labelled.stderr).toBe('')
    const shown = await gantry(lab, ['runs', 'show', run.run_id])
    expect(shown.stdout).toContain('12')
  })

  test('names a missing shard, is partial, and can be continued here', async () => {
    using lab = project()
    for (const part of ['1/3', '3/3']) await shard(lab, part, ['--agent', 'worker'])
    const { code, run } = await merge(lab)
    expect(code).toBe(3)
    expect(run.summary).toMatchObject({ verdict: 'partial', notRun: 1, counts: { pass: 2 } })
    expect((await merge(lab, ['blobs', '--strict'])).code).toBe(4)
    const report = await gantry(lab, ['runs', 'report', run.run_id])
    expect(report.stdout).toContain('shard 2/3 is missing')
    const resumed = await gantryTest(lab, ['--resume', run.run_id])
    expect(resumed.summary).toMatchObject({ verdict: 'pass', notRun: 0, counts: { pass: 3 } })
  })

  test('compares arms over all shards', async () => {
    using lab = project()
    lab.write({
      'gantry.yaml': {
        agents: { worker: { driver: 'scripted', script: 'agents/worker.yaml' } },
        fixtures_path: 'fixtures',
        arms: { a: { agent: 'worker' }, b: { agent: 'worker', overlay: 'fixtures/arm' } },
      },
    })
    lab.write({ 'fixtures/arm/HINT.md': 'A hint.\n' })
    for (const part of ['1/2', '2/2']) await shard(lab, part, ['--arms', 'a,b'])
    const { run, code } = await merge(lab)
    expect(code).toBe(0)
    expect(run.comparisons).toHaveLength(1)
    expect(run.comparisons?.[0]).toMatchObject({ pairs: 3 })
  })

  test('a stored run can be packed later, with what failed attempts cost', async () => {
    using lab = project()
    const { run_id, run_dir } = await gantryTest(lab, ['--agent', 'worker'])
    const aside = { ts: 1, event: 'put_aside', trial: '0001', why: 'infra', cost_usd: 0.25 }
    appendFileSync(join(run_dir, 'events.jsonl'), `${JSON.stringify(aside)}\n`)
    await gantry(lab, ['runs', 'report', run_id, '--reporter', 'blob:out'])
    const { code, run } = await merge(lab, ['out/shard-1-of-1.blob'])
    expect(code).toBe(0)
    expect(run.trials).toHaveLength(3)
    expect(run.summary.costUsd).toBe(0.25)
  })
})

describe('shards that do not belong together', () => {
  test.each<[string, (lab: TestProject) => void, readonly string[], RegExp]>([
    [
      'another scenario',
      (lab) => lab.write({ 'scenarios/find.yaml': smallScenario({ name: 'find', tier: 1 }) }),
      agents,
      /scenario 'find' differs/,
    ],
    [
      'another template',
      (lab) => lab.write({ 'fixtures/template/AGENTS.md': 'Other.\n' }),
      agents,
      /the template of 'case' differs/,
    ],
    [
      'another agent',
      (lab) => lab.write({ 'agents/lazy.yaml': agentScript([writes('x.txt')]) }),
      agents,
      /agent 'lazy' differs/,
    ],
    [
      'another number of attempts',
      () => {},
      ['--agent', 'worker,lazy', '--repeat', '3'],
      /'repeat' of the request/,
    ],
    ['another threshold', () => {}, [...agents, '--threshold', '0.5'], /'threshold' of the request differs/],
  ])('%s is refused, and nothing is stored', async (_what, change, argv, message) => {
    using lab = project()
    await shard(lab, '1/2')
    change(lab)
    await shard(lab, '2/2', argv)
    const { code, stderr } = await merge(lab)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(existsSync(join(lab.store, 'runs'))).toBe(false)
  })

  test('another number of shards, and the same shard twice', async () => {
    using lab = project()
    await shard(lab, '1/2')
    await shard(lab, '2/3')
    expect((await merge(lab)).stderr).toContain('the number of shards differs')
    cpSync(lab.path('blobs/shard-1-of-2.blob'), lab.path('again/deep/x.blob'), { recursive: true })
    const twice = await merge(lab, ['blobs/shard-1-of-2.blob', 'again'])
    expect(twice.code).toBe(2)
    expect(twice.stderr).toMatch(
      /0001-.* is in shard 1\/2 \(blobs\/.*\) and in shard 1\/2 \(again\/deep\/x\.blob\)/,
    )
    expect(twice.stderr).toContain('keep one of the two blobs')
  })

  test('a shard that was cut by other durations overlaps, and the hint says why', async () => {
    using lab = project()
    const baseline = await gantryTest(lab, agents)
    await gantry(lab, ['runs', 'bless', baseline.run_id, '--to', 'baseline.json'])
    const file = JSON.parse(lab.read('baseline.json'))
    for (const entry of file.cases) entry.means.time_ms = entry.case === 'merge' ? 90_000 : 10
    writeFileSync(lab.path('baseline.json'), JSON.stringify(file))
    const balanced = await shard(lab, '1/2', [...agents, '--baseline', 'baseline.json'])
    expect(new Set(balanced.trials.map((trial) => trial.case))).toEqual(new Set(['merge']))
    const other = await shard(lab, '2/2', [...agents, '--baseline', 'baseline.json'])
    expect(other.trials).toHaveLength(8)
    await shard(lab, '1/2')
    const { code, stderr } = await merge(lab)
    expect(code).toBe(2)
    expect(stderr).toContain('different earlier durations')
  })

  test('earlier shards in the same store do not change the cut', async () => {
    using lab = project()
    const cut = async (part: string): Promise<string[]> => {
      const { trials } = await gantryTest(lab, [...agents, '--shard', part, '--no-cache'])
      return trials.map(({ id }) => id)
    }
    const ids = [...(await cut('1/2')), ...(await cut('2/2'))]
    expect(new Set(ids).size).toBe(12)
  })
})

describe('what is not a blob', () => {
  test.each<[string, (path: string) => void, number, string]>([
    ['damaged', (path) => truncateSync(path, readFileSync(path).length - 40), 3, 'is damaged or incomplete'],
    ['another file', (path) => writeFileSync(path, 'hello\n'), 2, 'is not a blob of Gantry'],
    [
      'of another format',
      (path) =>
        writeFileSync(
          path,
          readFileSync(path, 'latin1').replace('"gantry_blob":1', '"gantry_blob":2'),
          'latin1',
        ),
      2,
      'was made by another version of Gantry (0.1.0)',
    ],
    ['removed', (path) => rmSync(path), 2, 'blobs has no blobs'],
    [
      'in no directory',
      (path) => rmSync(join(path, '..'), { recursive: true }),
      2,
      'no directory or blob blobs',
    ],
  ])('%s', async (_what, damage, code, message) => {
    using lab = project()
    await shard(lab, '1/1', ['--agent', 'worker'])
    damage(lab.path('blobs/shard-1-of-1.blob'))
    const merged = await merge(lab)
    expect(merged.stderr).toContain(message)
    expect(merged.code).toBe(code)
    expect(existsSync(join(lab.store, 'runs')) ? readdirSync(join(lab.store, 'runs')) : []).toEqual([])
  })

  test('a run of another kind is refused', async () => {
    using lab = project()
    const store = openStore({ env: {}, cwd: lab.dir, root: lab.store })
    const run = createRun(store, { kind: 'verify', title: 'verify', argv: [], cwd: lab.dir })
    await run.end({ status: 'pass' })
    await gantry(lab, ['runs', 'report', run.id, '--reporter', 'blob:blobs'])
    const { code, stderr } = await merge(lab)
    expect(code).toBe(2)
    expect(stderr).toContain('is of a verify run that cannot be merged')
  })

  test('no path, and a blob reporter without a directory', async () => {
    using lab = project()
    expect((await gantry(lab, ['runs', 'merge'])).code).toBe(2)
    const { code, stderr } = await gantry(lab, ['test', '--agent', 'worker', '--reporter', 'blob'])
    expect(code).toBe(2)
    expect(stderr).toContain('blob:DIR')
  })
})
