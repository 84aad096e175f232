import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runScenarios } from '../../../src/scenario/run-scenarios.ts'
import { gantry, gantryTest } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, writes } from '../support/project.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

/** The agent does its work only if AGENTS.md is good, or if SKILL is set. */
function armed(arms: Record<string, unknown>, more: Record<string, unknown> = {}) {
  return smallProject({
    scenario: { name: 'z' },
    config: {
      agents: {
        worker: {
          driver: 'command',
          command: ['sh', '-c', 'if grep -q good AGENTS.md || [ -n "$SKILL" ]; then echo ok > done.txt; fi'],
        },
        scripted: { driver: 'scripted', script: 'agents/worker.yaml' },
      },
      arms,
    },
    files: {
      ...Object.fromEntries(names.map((name) => [`scenarios/${name}.yaml`, smallScenario({ name })])),
      'docs-v2/AGENTS.md': 'A good text.\n',
      ...more,
    },
  })
}

const both = { base: { agent: 'worker' }, docs: { agent: 'worker', overlay: 'docs-v2' } }

test('arms are compared with the first one, and the comparison decides the exit code', async () => {
  using project = armed({ ...both, skilled: { agent: 'worker', env: { SKILL: '1' } } })
  const found = await gantryTest(project, ['--arms', 'base,docs,skilled'])
  expect(found.comparisons).toMatchObject([
    { before: { name: 'base' }, after: { name: 'docs' }, verdict: 'better', pairs: 8 },
    { before: { name: 'base' }, after: { name: 'skilled' }, verdict: 'better', pairs: 8 },
  ])
  expect(found.code).toBe(0)
  expect(found.summary.agents?.map(({ agent, passRate }) => [agent, passRate.value])).toEqual([
    ['base', 0],
    ['docs', 1],
    ['skilled', 1],
  ])
  const back = await gantryTest(project, ['--arms', 'docs,base'])
  expect(back.comparisons).toMatchObject([{ verdict: 'worse' }])
  expect(back.code).toBe(1)
  const { stdout } = await gantry(project, ['compare', 'latest:base', 'latest:docs', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'better', pairs: 8 })
})

test('arms come from the cache only together, and are shown in the order they are named', async () => {
  using project = armed({ ...both, alone: { agent: 'worker', env: { SKILL: '1' } } })
  const cachedOf = async (arms: string) => {
    const planned = await gantry(project, ['test', '--arms', arms, '--plan', '--json'])
    const found = await gantryTest(project, ['--arms', arms])
    expect(JSON.parse(planned.stdout).plan.cacheHits).toBe(found.summary.cached)
    return found
  }
  const first = await cachedOf('docs,base')
  expect(first.summary.cached).toBe(0)
  expect(first.summary.agents?.map(({ agent }) => agent)).toEqual(['docs', 'base'])
  const shown = await gantry(project, ['runs', 'report', 'latest', '--reporter', 'md'])
  expect(shown.stdout).toMatch(/\| case +\| +docs +\| +base +\|/)
  const again = await cachedOf('docs,base')
  expect(again.summary.cached).toBe(16)
  expect(again.comparisons?.[0]).toMatchObject({ pairs: 8, doubts: [expect.stringContaining('seen before')] })
  // The first arm is in the cache, but drift since then would count as a difference of the others.
  expect((await cachedOf('base,alone')).summary.cached).toBe(0)
  expect((await cachedOf('docs,base')).summary.cached).toBe(0)
})

test('the trials of a pair get the same seed, and other pairs another', async () => {
  using project = armed(both)
  project.write({
    'gantry.yaml': {
      agents: { worker: { driver: 'command', command: ['sh', '-c', 'echo "$GANTRY_SEED" > done.txt'] } },
      arms: { ...both, docs: { agent: 'worker', env: { SKILL: '1' } } },
    },
  })
  const seedsOf = async (...flags: string[]): Promise<Map<string, Set<string>>> => {
    const { trials } = await gantryTest(project, ['--arms', 'base,docs', '--filter', '/[ab]/', ...flags])
    const seeds = new Map<string, Set<string>>()
    for (const { case: name, attempt, dir } of trials) {
      const of = seeds.get(`${name} ${attempt}`) ?? new Set()
      seeds.set(`${name} ${attempt}`, of.add(readFileSync(join(dir, 'fixture/done.txt'), 'utf8').trim()))
    }
    return seeds
  }
  const first = await seedsOf('--repeat', '2')
  expect([...first.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1])
  const all = [...first.values()].flatMap((of) => [...of])
  expect(new Set(all).size).toBe(4)
  expect(all.every((seed) => /^\d+$/.test(seed))).toBe(true)
  expect(await seedsOf('--repeat', '2', '--no-cache')).toEqual(first)
  expect(await seedsOf('--repeat', '2', '--seed', '7')).not.toEqual(first)
})

test('trials that failed before are run again without a comparison', async () => {
  using project = armed(both)
  await gantryTest(project, ['--arms', 'base,docs'])
  const again = await gantryTest(project, ['--rerun-failed'])
  expect(again.trials.map(({ agent }) => agent)).toEqual(Array(8).fill('base'))
  expect(again.comparisons).toBeUndefined()
})

test('the files of an overlay are in the workspace, and are not a change of the agent', async () => {
  using project = armed(both)
  const { trials } = await gantryTest(project, ['--arms', 'docs', '--filter', 'a'])
  const dir = trials[0]?.dir ?? ''
  expect(readFileSync(join(dir, 'fixture/AGENTS.md'), 'utf8')).toBe('A good text.\n')
  expect(readFileSync(join(dir, 'workspace.diff'), 'utf8')).not.toContain('AGENTS.md')
})

test('the report of a stored run has its comparisons and the cases by arms', async () => {
  using project = armed(both)
  await gantryTest(project, ['--arms', 'base,docs'])
  const { stdout } = await gantry(project, ['runs', 'report', 'latest', '--reporter', 'md'])
  expect(stdout).toMatch(/^# \S+ PASS: /)
  expect(stdout).toContain('docs is better than base, +100 points')
  expect(stdout).toContain('The comparison decides the exit code, not single failures.')
  expect(stdout).toContain('## Cases by agents')
  expect(stdout).toMatch(/\| a +\| +0\/1 +\| +1\/1 +\|/)
})

test('--until-decided stops when the arms are decided, and a report knows that nothing is missing', async () => {
  using project = armed(both)
  const found = await gantryTest(project, ['--arms', 'base,docs', '--until-decided', '--max-repeat', '9'])
  expect(found.comparisons).toMatchObject([{ verdict: 'better', rounds: expect.any(Number) }])
  const rounds = found.comparisons?.[0]?.rounds ?? 0
  expect(rounds).toBeLessThan(9)
  expect(found.trials.length).toBe(16 * rounds)
  expect(found.summary.notRun).toBe(0)
  const listed = await gantry(project, ['runs', 'list'])
  expect(listed.stdout).not.toContain('not run')
  const planned = await gantry(project, ['test', '--arms', 'base,docs', '--until-decided', '--plan'])
  expect(planned.stdout).toContain('at most 320 trials of 8 scenarios would run')
  const { stdout } = await gantry(project, ['runs', 'report', 'latest', '--reporter', 'json'])
  expect(JSON.parse(stdout)).toMatchObject({
    summary: { notRun: 0 },
    comparisons: [{ verdict: 'better', rounds }],
  })
  await gantry(project, ['runs', 'bless', 'latest', '--to', 'b.json'])
  const compared = await gantry(project, ['compare', 'b.json:base', 'b.json:docs', '--json'])
  expect(JSON.parse(compared.stdout).doubts).toContainEqual(
    expect.stringMatching(/^b\.json:base stopped when it was decided/),
  )
})

test('a run of arms that is graded again ends with their comparison, and that decides the exit code', async () => {
  using project = armed(both)
  const regraded = async (...flags: string[]) => {
    const { stdout, code } = await gantry(project, ['runs', 'regrade', 'latest', ...flags])
    return { stdout, code }
  }
  await gantryTest(project, ['--arms', 'base,docs'])
  for (const name of names)
    project.write({
      [`scenarios/${name}.yaml`]: smallScenario({
        name,
        evaluation: {
          gates: [{ type: 'script', command: 'test ! -e done.txt', description: 'Nothing is done.' }],
        },
      }),
    })
  const worse = await regraded('--json')
  expect(JSON.parse(worse.stdout)).toMatchObject({ comparisons: [{ verdict: 'inconclusive', pairs: 8 }] })
  rmSync(project.path('scenarios/case.yaml'))
  const shown = await regraded()
  expect(shown.stdout).toMatch(/Graded again[\s\S]*docs is\s+worse than base/)
  expect(shown.code).toBe(1)
  await gantryTest(project, ['--arms', 'docs,base', '--until-decided', '--max-repeat', '9'])
  for (const name of names) project.write({ [`scenarios/${name}.yaml`]: smallScenario({ name }) })
  const decided = JSON.parse((await regraded('--json')).stdout)
  expect(decided.comparisons).toMatchObject([{ verdict: 'worse', rounds: expect.any(Number) }])
})

test('the cases of an arm that was decided early show the trials that decided it', async () => {
  using project = armed({ ...both, poor: { agent: 'worker', env: { OTHER: '1' } } })
  const flags = ['--arms', 'base,docs,poor', '--until-decided', '--max-repeat', '20']
  const { comparisons = [], summary } = await gantryTest(project, flags)
  const [docs, poor] = comparisons
  expect(docs?.rounds).toBeLessThan(poor?.rounds ?? 0)
  expect(docs?.cases.map(({ before, after }) => [before.trials, after.trials])).toEqual(
    docs?.cases.map(() => [docs.rounds, docs.rounds]),
  )
  expect(poor?.cases[0]?.before.trials).toBe(poor?.rounds)
  expect(summary.agents?.find(({ agent }) => agent === 'base')?.passRate.n).toBe(8 * (poor?.rounds ?? 0))
})

test('a cost limit before the first pair leaves the question open, and says how to go on', async () => {
  using project = armed(
    { one: { agent: 'scripted' }, two: { agent: 'scripted', overlay: 'docs-v2' } },
    {
      'agents/worker.yaml': agentScript([{ usage: { input_tokens: 1, cost_usd: 0.4 } }, writes('done.txt')]),
    },
  )
  const flags = ['--arms', 'one,two', '--until-decided', '--max-cost-usd', '0.5', '-j', '1', '--strict']
  const { code, stdout } = await gantry(project, ['test', ...flags])
  expect(code).toBe(4)
  expect(stdout).toMatch(
    /Nothing can be compared[\s\S]*planned trials of this run did not run[\s\S]*--resume/,
  )
  expect(stdout).not.toContain('no case in common')
})

test('a run that was stopped goes on with the rounds it had', async () => {
  using project = armed(both)
  const flags = ['--arms', 'base,docs', '--until-decided', '--no-cache']
  const whole = await gantryTest(project, flags)
  const cut = await gantryTest(project, [...flags, '--max-time', '1ms'])
  expect(cut.summary.notRun).toBeGreaterThan(0)
  const resumed = await gantryTest(project, ['--resume', cut.run_id, '--max-time', '10m'])
  expect(resumed.trials.length).toBe(whole.trials.length)
  expect(resumed.comparisons).toMatchObject([{ verdict: 'better', rounds: whole.comparisons?.[0]?.rounds }])
})

test('the guard of an arm refuses what it refuses elsewhere, and leaves nothing in the workspace', async () => {
  using project = armed(
    {
      plain: { agent: 'scripted' },
      guarded: { agent: 'scripted', guard: { middleware: { pre_completion_checklist: { enabled: false } } } },
    },
    { 'agents/worker.yaml': agentScript([writes('.env', 'X=1\n'), writes('done.txt')]) },
  )
  const { trials, code } = await gantryTest(project, ['--arms', 'plain,guarded', '--filter', 'a'])
  const dirOf = (arm: string): string => trials.find(({ agent }) => agent === arm)?.dir ?? ''
  const fixture = (arm: string): string[] => readdirSync(join(dirOf(arm), 'fixture')).sort()
  expect(fixture('plain')).toEqual(['.env', 'AGENTS.md', 'done.txt'])
  expect(fixture('guarded')).toEqual(['AGENTS.md', 'done.txt'])
  expect(existsSync(join(dirOf('guarded'), 'guard'))).toBe(true)
  expect(code).toBe(0)
})

test.each([
  ['base,other', "the arms 'base' and 'other' differ in nothing"],
  ['base,base', "--arms names 'base' twice"],
  ['base,emtpy', "no arm 'emtpy'"],
  ['base,constructor', "no arm 'constructor'"],
  ['base,docs --model x --model y --until-decided', '--until-decided needs one model'],
  ['base,graded', "has check.sh, which grades 'a'"],
  ['base,named', "has scripts/g.sh, which grades 'b'"],
  ['base,deep', 'has notes.md, which is a directory on one side and a file on the other'],
  ['base,away --plan', 'has the link gone.md: the link gone.md leads to /nowhere/at/all'],
  ['base,copied', "the arms 'base' and 'copied' differ in nothing"],
  ['base,guarded', 'cannot be guarded'],
  ['base,docs --agent worker', '--arms names agents already'],
  ['base --until-decided', '--until-decided compares arms'],
  ['base,docs --max-repeat 3', '--max-repeat belongs to --until-decided'],
  ['base,docs --until-decided --repeat 3', 'Write --max-repeat'],
])('--arms %s is refused before anything runs', async (flags, message) => {
  using project = armed(
    {
      ...both,
      other: { agent: 'worker' },
      graded: { agent: 'worker', overlay: 'grading' },
      copied: { agent: 'worker', overlay: 'copy' },
      named: { agent: 'worker', overlay: 'named' },
      deep: { agent: 'worker', overlay: 'deep' },
      away: { agent: 'worker', overlay: 'away' },
      guarded: { agent: 'worker', guard: true },
    },
    {
      'fixtures/template/check.sh': '#!/bin/sh\nexit 0\n',
      'grading/check.sh': '#!/bin/sh\nexit 1\n',
      'fixtures/template/scripts/g.sh': 'exit 0\n',
      'named/scripts/g.sh': 'exit 1\n',
      'deep/notes.md/a.txt': 'A file.\n',
      'away/AGENTS.md': 'A good text.\n',
      'fixtures/template/notes.md': 'The root.\n',
      'fixtures/template/initial-state/notes.md': 'Notes.\n',
      'copy/notes.md': 'Notes.\n',
      'scenarios/a.yaml': smallScenario({
        name: 'a',
        evaluation: { gates: [{ type: 'script', command: './check.sh', description: 'It works.' }] },
      }),
      'scenarios/b.yaml': smallScenario({
        name: 'b',
        evaluation: { gates: [{ type: 'command_succeeds', command: 'cd scripts && ./g.sh' }] },
      }),
    },
  )
  symlinkSync('/nowhere/at/all', project.path('away/gone.md'))
  const { code, stderr } = await gantry(project, ['test', '--arms', ...flags.split(' ')])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
  expect(existsSync(join(project.store, 'runs'))).toBe(false)
})

test('a run with a damaged result cannot be compared, and says which', async () => {
  using project = armed(both)
  const first = await gantryTest(project, ['--arms', 'base,docs', '--filter', 'a'])
  for (const name of readdirSync(first.run_dir)) {
    const path = join(first.run_dir, name)
    if (name.endsWith('.jsonl') && readFileSync(path, 'utf8').includes('"verdict"'))
      writeFileSync(path, '{"verdict":\n')
  }
  for (const { dir } of first.trials) writeFileSync(join(dir, 'result.json'), '{')
  for (const argv of [
    ['compare', 'latest:base', 'latest:docs'],
    ['runs', 'regrade', 'latest'],
  ]) {
    const { code, stderr } = await gantry(project, argv)
    expect(stderr).toContain('cannot be used')
    expect(code).toBe(2)
  }
  expect(readdirSync(join(project.store, 'runs'))).toHaveLength(1)
})

test('a library is refused what the command line is refused, before anything runs', async () => {
  using project = armed(both)
  const env = { PATH: process.env.PATH, HOME: project.home, AGENT_ARTIFACT_DIR: project.store }
  const request = { cwd: project.dir, arms: ['base', 'docs'], untilDecided: true, repeat: 2, filters: ['a'] }
  for (const [change, message] of [
    [{ arms: ['docs', 'docs'] }, '--until-decided compares arms'],
    [{ models: ['x', 'y'] }, '--until-decided needs one model'],
    [{ shard: { index: 1, count: 2 } }, '--until-decided needs all cases'],
    [{ agents: ['worker'] }, '--arms names agents already'],
  ] as const)
    await expect(runScenarios({ ...request, ...change } as typeof request, { env })).rejects.toThrow(message)
  expect(existsSync(join(project.store, 'runs'))).toBe(false)
  const one = await runScenarios({ ...request, arms: ['docs'], untilDecided: false }, { env })
  expect(one.summary.counts.pass).toBe(2)
})
