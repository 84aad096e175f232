import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import type { PluginScenario } from './contract.ts'
import { readScenariosFile } from './scenarios-schema.ts'

const read = async (content: string, name = 'scenarios.yaml'): Promise<readonly PluginScenario[]> => {
  const fixture = await createFixture({ [name]: content })
  onTestFinished(() => fixture.rm())
  return readScenariosFile(fixture.getPath(name))
}

const problem = async (content: string): Promise<string> => {
  const error: unknown = await read(content).catch((thrown) => thrown)
  if (!(error instanceof Error)) throw new Error('it was read')
  expect(error).toMatchObject({ code: 'INVALID_FILE' })
  return error.message.replaceAll(/\S*scenarios\.yaml/g, 'scenarios.yaml')
}

const least = 'component_ref: greet, component_type: skill, user_prompt: hi'

test('optional fields are filled in', async () => {
  expect(
    await read(`scenarios:
  - { id: a, ${least} }
  - { id: b, ${least}, expected_trigger: false }
  - { id: c, ${least}, scenario_type: negative }
  - { id: d, ${least}, scenario_type: edge_case, expected_trigger: false, expected_component: demo:greet }
`),
  ).toEqual([
    expect.objectContaining({
      id: 'a',
      scenario_type: 'direct',
      expected_trigger: true,
      origin: 'file',
      expected_component: 'greet',
    }),
    expect.objectContaining({ id: 'b', scenario_type: 'negative', expected_trigger: false }),
    expect.objectContaining({ id: 'c', scenario_type: 'negative', expected_trigger: false }),
    expect.objectContaining({
      id: 'd',
      scenario_type: 'edge_case',
      expected_trigger: false,
      expected_component: 'demo:greet',
    }),
  ])
})

test('a bare list in JSON and older field names are accepted', async () => {
  const [scenario] = await read(
    JSON.stringify([
      {
        id: 'a',
        component_ref: 'greet',
        expected_component: 'greet',
        component_type: 'command',
        scenario_type: 'direct',
        user_prompt: '/demo:greet @README.md',
        expected_trigger: true,
        expected_file_reference: 'README.md',
        setup_context: 'We are in a new project.',
        reasoning: 'why',
      },
    ]),
    'scenarios.json',
  )
  expect(scenario).toEqual({
    id: 'a',
    component_ref: 'greet',
    expected_component: 'greet',
    component_type: 'command',
    scenario_type: 'direct',
    user_prompt: '/demo:greet @README.md',
    expected_trigger: true,
    expected_file_references: ['README.md'],
    setup_messages: [{ role: 'user', content: 'We are in a new project.' }],
    reasoning: 'why',
    origin: 'file',
  })
})

test('a scenarios.json written by Gantry is read back unchanged', async () => {
  const scenarios: readonly PluginScenario[] = [
    {
      id: 'greet-direct-1',
      component_ref: 'greet',
      component_type: 'skill',
      expected_component: 'greet',
      scenario_type: 'semantic',
      user_prompt: 'hi',
      expected_trigger: true,
      setup_messages: [{ role: 'user', content: 'x' }],
      original_trigger_phrase: 'say hello',
      semantic_variation_type: 'informal',
      expected_file_references: ['a.md'],
      origin: 'model',
      tags: ['idea-b1'],
      files: { 'src/a.md': 'text' },
      needs_tools: ['Write'],
    },
    {
      id: 'case-one',
      component_ref: '',
      component_type: 'skill',
      expected_component: '',
      scenario_type: 'direct',
      user_prompt: 'hi',
      expected_trigger: true,
      origin: 'case',
      case: {
        dir: '/plugins/demo/evals/one',
        graders: [
          {
            type: 'regex',
            name: 'r',
            weight: 1,
            arm: 'default',
            pattern: 'x',
            flags: '',
            match: { count: 2 },
            target: 'trace',
          },
          {
            type: 'tool_used',
            name: 't',
            weight: 2,
            arm: 'both',
            use: { tool: 'Skill', input_match: { skill: 'x' } },
            min: 1,
            max: null,
          },
          {
            type: 'llm',
            name: 'l',
            weight: 1,
            arm: 'with-only',
            criteria: 'good',
            focus: { source: 'file', path: 'a' },
          },
        ],
        runs: 3,
        env: { EVAL_X: '1' },
      },
    },
  ]
  const written = { schema_version: 1, plugin_name: 'demo', scenarios }
  expect(await read(JSON.stringify(written), 'scenarios.json')).toEqual(scenarios)
})

test.each([
  [
    'an unknown key',
    `scenarios:\n  - { id: a, ${least}, user_promt: x }`,
    "scenarios.yaml:2:76: unknown key 'user_promt', did you mean 'user_prompt'?",
  ],
  ['an unknown key at the top', `scenario:\n  - { id: a, ${least} }`, "did you mean 'scenarios'?"],
  [
    'a missing key',
    'scenarios:\n  - { id: a, component_type: skill, component_ref: x }',
    "scenarios.yaml:2:5: missing key 'user_prompt'",
  ],
  [
    'an empty prompt',
    `- { id: a, component_ref: x, component_type: skill, user_prompt: " " }`,
    'scenarios.yaml:1:66: [0].user_prompt: must not be empty',
  ],
  ['a type that is none', `- { id: a, ${least}, scenario_type: fun }`, 'scenarios.yaml:1:'],
  [
    'an id that is not a file name',
    `- { id: a/b, ${least} }`,
    'scenarios.yaml:1:9: [0].id: must be a file name',
  ],
  ['an id that leads out', `- { id: .., ${least} }`, 'must be a file name'],
  [
    'an id that is taken',
    `- { id: a, ${least} }\n- { id: A, ${least} }`,
    "scenarios.yaml:2:9: the id 'A' is taken by scenario 1",
  ],
  [
    'an id that is taken, under scenarios',
    `scenarios:\n - { id: a, ${least} }\n - { id: a, ${least} }`,
    "scenarios.yaml:3:10: the id 'a' is taken",
  ],
  ['a duplicate key', `- { id: a, id: b, ${least} }`, "duplicate key 'id'"],
  [
    'a contradiction',
    `- { id: a, ${least}, scenario_type: negative, expected_trigger: true }`,
    'contradicts scenario_type',
  ],
  [
    'another contradiction',
    `- { id: a, ${least}, scenario_type: direct, expected_trigger: false }`,
    'contradicts scenario_type',
  ],
  ['no component', '- { id: a, component_type: skill, user_prompt: x }', 'must name a component'],
  ['two ways to say the same', `- { id: a, ${least}, setup_context: x, setup_messages: [] }`, 'not both'],
  [
    'a file outside the workspace',
    `- { id: a, ${least}, files: { ../x: y } }`,
    'must be a path inside the workspace',
  ],
  ['an absolute file', `- { id: a, ${least}, files: { /etc/x: y } }`, 'must be a path inside the workspace'],
  ['no scenarios', 'scenarios: []', 'must not be empty'],
  ['an empty file', '', "missing key 'scenarios'"],
])('%s is reported with its position', async (_, content, expected) => {
  expect(await problem(content)).toContain(expected)
})

test('a missing file is reported as missing', async () => {
  await expect(readScenariosFile('/no/such/file.yaml')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
