import { cpSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { gantry, gantryTest } from '../support/gantry.ts'
import { agentScript, makeProject, type TestProject } from '../support/project.ts'

// Files as llm-tool-test reads them: every construct of its specification and of the files it is used with.
const corpus = join(import.meta.dirname, '../../corpus/llm-tool-test')
const jot = join(import.meta.dirname, '../../../examples/jot/bin')
const env = { PATH: `${jot}${delimiter}${process.env.PATH}` }

const notes: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  capture_basic: [{ run: 'jot add "Quantum entanglement links particles" --tag physics' }],
  create_smoke: [{ run: 'jot add "Test Note"' }],
  setup_commands: [{ run: 'jot add "Setup Commands Note"' }],
  task_manager_organize: [{ run: 'jot add "migrate the database" --tag high' }, { run: 'jot done 2' }],
  json_gates: [
    { run: 'jot add "buy milk" --tag shop' },
    { run: 'jot add "buy bread" --tag shop' },
    { write: { path: 'report.md', content: 'buy milk\nbuy bread\n' } },
  ],
  from_config: [{ run: 'jot add "from the configuration"' }],
  guidance_minimal: [{ run: 'jot add guided' }],
  finish_seeded: [{ run: 'jot done 1' }],
  nested_smoke: [{ run: 'jot add nested' }],
  empty_blocks: [{ run: 'jot add empty' }],
}

const worker = {
  'worker.yaml': {
    name: 'worker',
    scripts: Object.entries(notes).map(([name, turns]) => ({ when: { case: name }, turns })),
  },
}

function original(): TestProject {
  const project = makeProject()
  cpSync(corpus, project.dir, { recursive: true })
  return project
}

test('a tool that is not installed here is no fault of a file', async () => {
  using project = original()
  const { code, stdout } = await gantry(project, ['migrate', '--dry-run'])
  expect(code).toBe(0)
  expect(stdout).not.toMatch(/^bad/m)
  expect(stdout).toMatch(/^warn .*capture_basic\.yaml: the tool 'jot' was not found$/m)
  const validated = await gantry(project, ['scenario', 'validate', 'llm-test-fixtures/capture_basic.yaml'])
  expect(validated).toMatchObject({
    code: 2,
    stdout: expect.stringContaining("the tool 'jot' was not found"),
  })
})

test('after migrate every original scenario is run as it is written, and passes', async () => {
  using project = original()
  const migrated = await gantry(project, ['migrate', '--json'], { env })
  expect(migrated).toMatchObject({ code: 0, stderr: '' })
  const { written, scenarios, from } = JSON.parse(migrated.stdout)
  expect(written).toBe(true)
  expect(scenarios.map(({ problem }: { problem: unknown }) => problem)).toEqual(
    Object.keys(notes).map(() => null),
  )
  expect(from[0].notes.join('\n')).toMatch(/amp PROMPT[\s\S]*USD per million/)
  project.write(worker)
  const { trials, code } = await gantryTest(project, ['--agent', 'scripted:worker.yaml', '--no-judge'], {
    env,
  })
  expect(
    trials.filter(({ verdict }) => verdict !== 'pass').map(({ case: name, reason }) => [name, reason]),
  ).toEqual([])
  expect(trials.map((trial) => trial.case).toSorted()).toEqual(Object.keys(notes).toSorted())
  expect(code).toBe(0)
  const organized = trials.find((trial) => trial.case === 'task_manager_organize')
  expect(organized).toMatchObject({
    score: 1,
    evaluators: [{ name: 'task_quality', score: 0.82, metrics: { notes: 3 } }],
  })
  for (const name of ['capture_basic.yaml', 'organize.yaml'])
    expect(project.read(`llm-test-fixtures/${name}`)).toBe(
      readFileSync(join(corpus, 'llm-test-fixtures', name), 'utf8'),
    )
})

test('before migrate the scenarios run when they are named, and otherwise the hint is to migrate', async () => {
  using project = original()
  project.write(worker)
  const { stderr, code } = await gantry(project, ['test', '--agent', 'scripted:worker.yaml'], { env })
  expect([code, stderr]).toEqual([2, expect.stringContaining("Run 'gantry migrate'")])
  const named = ['llm-test-fixtures/create_smoke.yaml', '--agent', 'scripted:worker.yaml']
  expect((await gantryTest(project, named, { env })).code).toBe(0)
})

test('weights that do not sum to 1 are scaled, and validate says so', async () => {
  using project = original()
  const { stdout, code } = await gantry(
    project,
    ['scenario', 'validate', 'llm-test-fixtures/guidance_minimal.yaml'],
    { env },
  )
  expect(code).toBe(0)
  expect(stdout).toContain('sum to 1.2; they are scaled to 1')
})

test('a template in templates/ is found, also when the folder of the scenario has its name', async () => {
  using project = makeProject({
    'fixtures/jot/case.yaml': readFileSync(join(corpus, 'llm-test-fixtures/create_smoke.yaml'), 'utf8'),
    'fixtures/templates/jot/AGENTS.md': '',
    ...worker,
  })
  const { trials } = await gantryTest(
    project,
    ['fixtures/jot/case.yaml', '--agent', 'scripted:worker.yaml'],
    { env },
  )
  expect(trials.map(({ verdict }) => verdict)).toEqual(['pass'])
  rmSync(project.path('fixtures/templates'), { recursive: true })
  const inside = await gantryTest(project, ['fixtures/jot/case.yaml', '--agent', 'scripted:worker.yaml'], {
    env,
  })
  expect(inside.trials.map(({ verdict }) => verdict)).toEqual(['pass'])
})

describe('gantry migrate', () => {
  const old = {
    'config.yaml':
      'plugin: { path: ./my-plugin, name: null }\nmarketplace: { path: null }\nexecution: { num_reps: 3 }\n',
    'harness/harness.json': JSON.stringify({
      version: '1.0.0',
      middleware: { loop_detection: { edit_threshold: 7 } },
      state: { dir: '.harness' },
    }),
    'agent.yaml': 'verification: { container_image: alpine, steps: [{ name: test, command: "true" }] }\n',
  }

  test('puts the settings of every tool into one gantry.yaml that Gantry reads', async () => {
    using project = makeProject(old)
    project.write({ 'results/my-plugin/20250102-120000-ab3d/state.json': '{}' })
    const { stdout, code } = await gantry(project, ['migrate'])
    expect(code).toBe(0)
    expect(stdout).toContain('1 run of cc-plugin-eval can be continued')
    expect(stdout).toContain('agent.yaml\n     It is read as it is')
    expect(parse(project.read('gantry.yaml'))).toEqual({
      plugin: { plugin: { path: './my-plugin' }, execution: { num_reps: 3 } },
      guard: {
        version: '1.0.0',
        middleware: { loop_detection: { edit_threshold: 7 } },
        state: { dir: '.harness' },
      },
    })
  })

  test('--dry-run writes nothing and prints the file', async () => {
    using project = makeProject(old)
    const { stdout, code } = await gantry(project, ['migrate', '--dry-run'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('num_reps: 3')])
    expect(() => project.read('gantry.yaml')).toThrow('ENOENT')
  })

  test('never overwrites a gantry.yaml without --force', async () => {
    using project = makeProject({ ...old, 'gantry.yaml': 'fixtures_path: mine\n' })
    expect(await gantry(project, ['migrate'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--force'),
    })
    expect(project.read('gantry.yaml')).toBe('fixtures_path: mine\n')
    expect((await gantry(project, ['migrate', '--force'])).stdout).toContain('Replaced')
    expect(project.read('gantry.yaml')).toContain('num_reps: 3')
  })

  test('reports a broken TOML file with its position, and a wrong value with its key', async () => {
    using project = makeProject({ 'llm-tool-test-config.toml': 'fixtures_path = "a"\n[tools\n' })
    const broken = await gantry(project, ['migrate'])
    expect(broken).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/llm-tool-test-config\.toml:2:\d+: /),
    })
    project.write({ 'llm-tool-test-config.toml': 'results_path = 3\n' })
    expect((await gantry(project, ['migrate'])).stderr).toContain('results_path: expected a string')
  })

  test('exits 2 when a scenario cannot be used, and names the key that no version reads', async () => {
    using project = original()
    project.write({ 'llm-test-fixtures/typo.yaml': 'name: typo\ntask: { promt: x }\n' })
    project.write({
      'llm-tool-test-config.toml': `${project.read('llm-tool-test-config.toml')}[judge]\nmodel = "x"\n`,
    })
    const { code, stdout } = await gantry(project, ['migrate', '--dry-run'], { env })
    expect(code).toBe(2)
    expect(stdout).toMatch(/bad .*typo\.yaml/)
    expect(stdout).toContain('judge is left out')
  })

  test('exits 2 where there is nothing to migrate; files of other programs do not count', async () => {
    using project = makeProject({
      'config.yaml': 'plugin: { path: x }\nserver: { port: 1 }\n',
      'harness.json': '{"browser":"firefox"}',
    })
    expect(await gantry(project, ['migrate'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing to migrate'),
    })
  })
})

test('an old command line is answered with the one of today', async () => {
  using project = makeProject({ 'a.yaml': agentScript([]) })
  expect(await gantry(project, ['run', '--all', '--tool', 'opencode', '--max-usd', '2'])).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: unknown command 'run'\nhint:  Write: gantry test --agent opencode --max-cost-usd 2\n",
  })
  expect((await gantry(project, ['test', '--timeout-secs', '90'])).stderr).toContain(
    'gantry test --timeout 90s',
  )
})
