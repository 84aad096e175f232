import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { makeProject, smallProject, smallScenario } from '../support/project.ts'

async function complaint(scenario: unknown): Promise<string> {
  using project = smallProject({ files: { 'scenarios/case.yaml': scenario } })
  const { code, stderr, stdout } = await gantry(project, ['test', '--json'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  return stderr
}

describe('a scenario without a key it needs is refused by name', () => {
  test.each(['name', 'description', 'target', 'template_folder', 'task', 'evaluation'])('%s', async (key) => {
    const { [key]: _left, ...rest } = smallScenario()
    const stderr = await complaint(rest)
    expect(stderr).toContain('case.yaml')
    expect(stderr).toContain(key)
  })
})

describe('an unknown key is refused at its place, with the nearest known one', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['tpoic', { tagz: ['a'] }, 'tags'],
    ['in task', { task: { promt: 'x' } }, 'prompt'],
    ['in target', { target: { binary: 'sh', helth_check: 'true' } }, 'health_check'],
    ['in run', { run: { timeout_sec: 3 } }, 'timeout_secs'],
    ['in cost', { cost: { max_us: 3 } }, 'max_usd'],
    ['in a post script', { scripts: { post: [{ command: 'true', timeout_sec: 1 }] } }, 'timeout_secs'],
    ['in a gate', { evaluation: { gates: [{ type: 'file_exists', paht: 'x', path: 'x' }] } }, 'path'],
    [
      'in the composite',
      {
        evaluation: {
          gates: [{ type: 'file_exists', path: 'x' }],
          composite: { judge_wieght: 1 },
        },
      },
      'judge_weight',
    ],
  ])('%s', async (_where, changes, right) => {
    const stderr = await complaint(smallScenario(changes))
    expect(stderr).toMatch(/case\.yaml:\d+:\d+/)
    expect(stderr).toContain(right)
  })
})

test('a key written twice is refused at the second place', async () => {
  const stderr = await complaint('name: a\ndescription: b\nname: c\n')
  expect(stderr).toMatch(/case\.yaml:3:1/)
})

test('YAML that does not parse is refused with line and column, never left out in silence', async () => {
  const stderr = await complaint('name: [\n')
  expect(stderr).toMatch(/case\.yaml:\d+:\d+/)
})

describe('a value of the wrong kind is refused', () => {
  test.each<[string, Record<string, unknown>]>([
    ['tier', { tier: -1 }],
    ['tags', { tags: 'smoke' }],
    ['timeout_secs', { run: { timeout_secs: '5 minutes' } }],
    ['max_turns', { run: { max_turns: 0 } }],
    ['max_usd', { cost: { max_usd: 0 } }],
    ['cache', { cost: { cache: 'no' } }],
    ['pass_threshold', judged({ enabled: true, rubric: 'r.yaml', pass_threshold: 1.5 })],
    ['pass_threshold', judged({ enabled: true, rubric: 'r.yaml' })],
    ['rubric', judged({ enabled: true, pass_threshold: 0.5 })],
    ['enabled', judged({ rubric: 'r.yaml', pass_threshold: 0.5 })],
    ['type', { evaluation: { gates: [{ type: 'min_notes', count: 3 }] } }],
    ['gates', { evaluation: { gates: [] } }],
    ['task', { task: 'Write done.txt.' }],
  ])('%s', async (key, changes) => {
    expect(await complaint(smallScenario(changes))).toContain(key)
  })
})

test('gates at the top level, as old scenarios have them, are refused and not dropped', async () => {
  const { evaluation: _evaluation, ...rest } = smallScenario()
  expect(await complaint({ ...rest, gates: [{ type: 'file_exists', path: 'x' }] })).toContain('gates')
})

test('weights of the composite are refused when all of them are 0', async () => {
  const gates = [{ type: 'file_exists', path: 'x' }]
  const composite = { judge_weight: 0, gate_weight: 0, interaction_weight: 0 }
  expect(await complaint(smallScenario({ evaluation: { gates, composite } }))).toContain('above 0')
})

test('two scenarios of one name are refused, because their results would be mixed up', async () => {
  using project = smallProject({ files: { 'scenarios/twin.yaml': smallScenario() } })
  const { code, stderr } = await gantry(project, ['test'])
  expect(code).toBe(2)
  expect(stderr).toContain("two scenarios are called 'case'")
})

test('optional keys have the defaults of the contract', async () => {
  using project = smallProject()
  const { stdout } = await gantry(project, ['scenario', 'show', 'case', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    setup: { commands: [] },
    scripts: { post: [], evaluators: [] },
    run: {},
    tags: [],
    tier: 0,
    cost: { cache: true },
  })
})

test('timeouts of scripts default to 30 s after the agent, 60 s for evaluators, 30 s for script gates', async () => {
  using project = smallProject({
    scenario: {
      scripts: { post: [{ command: 'true' }], evaluators: [{ name: 'e', command: 'true' }] },
      evaluation: { gates: [{ type: 'script', command: 'true', description: 'd' }] },
    },
  })
  const { stdout } = await gantry(project, ['scenario', 'show', 'case', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    scripts: { post: [{ timeout_secs: 30 }], evaluators: [{ timeout_secs: 60 }] },
    evaluation: { gates: [{ timeout_secs: 30 }] },
  })
})

test('a composite block that names no weights has 55, 35 and 10 percent', async () => {
  using project = smallProject({
    scenario: { evaluation: { gates: [{ type: 'file_exists', path: 'done.txt' }], composite: {} } },
  })
  const { stdout } = await gantry(project, ['scenario', 'show', 'case', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    evaluation: { composite: { judge_weight: 0.55, gate_weight: 0.35, interaction_weight: 0.1 } },
  })
})

test('scenarios are found at fixtures/<name>.yaml beside fixtures/<name>/, without any configuration', async () => {
  using project = makeProject({
    'fixtures/hello.yaml': smallScenario({ name: 'hello', template_folder: 'hello' }),
    'fixtures/hello/AGENTS.md': 'Write done.txt.\n',
    'agent.yaml': { name: 'a', turns: [{ write: { path: 'done.txt', content: '' } }] },
  })
  const run = await gantryTest(project, ['--agent', 'scripted:agent.yaml'])
  expect(onlyTrial(run)).toMatchObject({ case: 'hello', file: 'fixtures/hello.yaml', verdict: 'pass' })
})

function judged(judge: Record<string, unknown>): Record<string, unknown> {
  return { evaluation: { gates: [{ type: 'file_exists', path: 'x' }], judge } }
}
