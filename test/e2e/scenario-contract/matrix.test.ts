import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, type RunDocument } from '../support/gantry.ts'
import { agentScript, type SmallProject, smallProject, type TestProject, writes } from '../support/project.ts'

const scripted = (rest: Record<string, unknown> = {}) => ({
  driver: 'scripted',
  script: 'agents/worker.yaml',
  ...rest,
})

function project({ config, ...rest }: SmallProject = {}): TestProject {
  return smallProject({ config: { agents: { a: scripted(), b: scripted() }, ...config }, ...rest })
}

const made = ({ trials }: RunDocument): string[] =>
  trials.map(({ agent, model, attempt }) => `${agent}/${model}/${attempt}`)

describe('agents × models × repetitions', () => {
  test('are all made, cases first, then again', async () => {
    using both = project()
    const run = await gantryTest(both, ['--agent', 'a,b', '--model', 'x', '--model', 'y', '--repeat', '2'])
    expect(made(run)).toEqual(['a/x/1', 'a/y/1', 'b/x/1', 'b/y/1', 'a/x/2', 'a/y/2', 'b/x/2', 'b/y/2'])
    expect(run.summary.cases).toHaveLength(4)
    expect(new Set(run.trials.map(({ dir }) => dir)).size).toBe(8)
  })

  test('run several at a time with -j, each on its own, in plan order in the report', async () => {
    using many = project({ turns: [{ wait: '20ms' }, { run: 'echo "$GANTRY_ATTEMPT" > done.txt' }] })
    const run = await gantryTest(many, ['--agent', 'a', '--repeat', '9', '-j', '3'])
    expect(made(run)).toEqual(Array.from({ length: 9 }, (_, index) => `a/default/${index + 1}`))
    expect(run.summary.counts.pass).toBe(9)
  })

  test('the only agent there is needs no name; among several one must be named', async () => {
    using one = smallProject()
    expect(made(await gantryTest(one))).toEqual(['worker/default/1'])
    using two = project()
    const { code, stderr } = await gantry(two, ['test'])
    expect(code).toBe(2)
    expect(stderr).toContain('--agent: a, b')
  })

  test('an agent that reads the attempt can be made flaky on purpose', async () => {
    using flaky = project({
      files: {
        'agents/worker.yaml': {
          name: 'w',
          scripts: [{ when: { attempt: 2 }, turns: [] }],
          turns: [writes('done.txt')],
        },
      },
    })
    const { trials } = await gantryTest(flaky, ['--agent', 'a', '--repeat', '3'])
    expect(trials.map(({ verdict }) => verdict)).toEqual(['pass', 'fail', 'pass'])
  })
})

describe('profiles', () => {
  const profiles = { nightly: { agents: ['a', 'b'], models: ['x', 'y'] }, plain: { agents: ['b'] } }

  test('expand to agents × models', async () => {
    using nightly = project({ config: { profiles } })
    expect(made(await gantryTest(nightly, ['--profile', 'nightly']))).toEqual([
      'a/x/1',
      'a/y/1',
      'b/x/1',
      'b/y/1',
    ])
    expect(made(await gantryTest(nightly, ['--profile', 'plain']))).toEqual(['b/default/1'])
  })

  test('win over the scenario’s tool_matrix', async () => {
    using nightly = project({ config: { profiles }, scenario: { tool_matrix: [{ tool: 'a' }] } })
    expect(made(await gantryTest(nightly, ['--profile', 'plain']))).toEqual(['b/default/1'])
  })

  test.each([
    ['--agent', 'a'],
    ['--model', 'x'],
  ])('do not go with %s', async (flag, value) => {
    using nightly = project({ config: { profiles } })
    const { code, stderr } = await gantry(nightly, ['test', '--profile', 'plain', flag, value])
    expect(code).toBe(2)
    expect(stderr).toContain('--profile names agents and models already')
  })

  test('that are unknown, or name an unknown agent, are errors with the nearest name', async () => {
    using nightly = project({ config: { profiles: { ...profiles, broken: { agents: ['aa'] } } } })
    const unknown = await gantry(nightly, ['test', '--profile', 'nightli'])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean 'nightly'?") })
    const broken = await gantry(nightly, ['test', '--profile', 'broken'])
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining("no agent 'aa'") })
  })
})

describe('tool_matrix', () => {
  const scenario = { tool_matrix: [{ tool: 'a', models: ['x', 'y'] }, { tool: 'b' }] }

  test('names agents and models; without models there is one run with `default`', async () => {
    using matrix = project({ scenario })
    expect(made(await gantryTest(matrix))).toEqual(['a/x/1', 'a/y/1', 'b/default/1'])
  })

  test('gives way to --agent and to --model: a flag is never overridden by a file', async () => {
    using matrix = project({ scenario })
    expect(made(await gantryTest(matrix, ['--agent', 'b']))).toEqual(['b/default/1'])
    expect(made(await gantryTest(matrix, ['--model', 'z']))).toEqual(['a/z/1', 'b/z/1'])
  })

  test('wins over the default agent of the environment', async () => {
    using matrix = project({ scenario: { tool_matrix: [{ tool: 'a' }] } })
    expect(made(await gantryTest(matrix, [], { env: { LLM_TOOL_TEST_TOOL: 'b' } }))).toEqual(['a/default/1'])
  })
})

describe('the default agent', () => {
  test('comes from GANTRY_AGENT, then from LLM_TOOL_TEST_TOOL', async () => {
    using two = project()
    const env = { GANTRY_AGENT: 'b', LLM_TOOL_TEST_TOOL: 'a' }
    expect(made(await gantryTest(two, [], { env }))).toEqual(['b/default/1'])
    expect(made(await gantryTest(two, [], { env: { LLM_TOOL_TEST_TOOL: 'a' } }))).toEqual(['a/default/1'])
    expect(made(await gantryTest(two, ['--agent', 'a'], { env }))).toEqual(['a/default/1'])
  })
})

describe('an agent’s list of models', () => {
  const config = { agents: { a: scripted({ models: ['x', 'y'] }) } }

  test('allows what it names, and `default`', async () => {
    using listed = project({ config })
    expect(made(await gantryTest(listed, ['--model', 'y']))).toEqual(['a/y/1'])
    expect(made(await gantryTest(listed))).toEqual(['a/default/1'])
  })

  test('refuses every other model before anything runs', async () => {
    using listed = project({ config })
    const { code, stderr } = await gantry(listed, ['test', '--model', 'z'])
    expect(code).toBe(2)
    expect(stderr).toContain("agent 'a' has no model 'z'")
    expect(stderr).toContain('x, y')
  })
})

describe('an agent that cannot be used stops the run before it starts', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an unknown driver', { driver: 'telepathy' }, /gantry\.yaml:\d+:\d+/],
    [
      'a program that is not there',
      { driver: 'command', command: ['no-such-agent-here'] },
      /no-such-agent-here/,
    ],
    ['a script that is not there', { driver: 'scripted', script: 'nowhere.yaml' }, /nowhere\.yaml/],
    [
      'a variable that is not set',
      { driver: 'command', command: ['true'], env: { KEY: `$\{NOT_SET_AT_ALL}` } },
      /gantry\.yaml:\d+:\d+: .*NOT_SET_AT_ALL/,
    ],
  ])('%s', async (_what, agent, message) => {
    using broken = project({ config: { agents: { a: agent } } })
    const { code, stderr } = await gantry(broken, ['test', '--agent', 'a'])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('a script with a mistake is named with line and column', async () => {
    using broken = smallProject({ files: { 'agents/worker.yaml': agentScript([{ sing: 'la' }]) } })
    const { code, stderr } = await gantry(broken, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/worker\.yaml:\d+:\d+/)
  })
})
