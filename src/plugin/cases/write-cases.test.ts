import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import fc from 'fast-check'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { partsOf } from '../../../test/support/plugin-parts.ts'
import { scenarioOf } from '../../../test/support/plugin-trial.ts'
import type { Grader, PluginScenario } from '../generate/contract.ts'
import { readCases } from './read-cases.ts'
import { writeBlankCase, writeCases } from './write-cases.ts'

const place = async (files: Readonly<Record<string, string>> = {}) => {
  const fixture = await createFixture(files)
  onTestFinished(() => fixture.rm())
  const root = fixture.path.replace(/\/$/, '')
  const plugin = partsOf(root)
  return {
    root,
    dir: `${root}/evals`,
    plugin,
    write: (scenarios: readonly PluginScenario[], overwrite = false) =>
      writeCases(scenarios, { dir: `${root}/evals`, plugin, overwrite }),
    read: () => readCases(root, { plugin }),
    text: (path: string) => readFileSync(`${root}/evals/${path}`, 'utf8'),
    has: (path: string) => existsSync(`${root}/evals/${path}`),
  }
}

/** Fields that every case has. */
const asCase = ({ origin: _, case: __, ...scenario }: PluginScenario) => scenario

const roundTrip = async (scenarios: readonly PluginScenario[]) => {
  const { write, read } = await place()
  const written = await write(scenarios)
  const { scenarios: again, problems } = await read()
  expect(problems).toEqual([])
  return { written, again: again.map(asCase) }
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)

test('a grader has the name by which Claude Code calls the skill, not that of its frontmatter', async () => {
  const { root, dir, text } = await place()
  const plugin = partsOf(root)
  const [first] = plugin.components.skills
  if (first === undefined) throw new Error('no skill')
  const skills = [{ ...first, name: 'Writing Rules', cli_name: 'demo:writing-rules' }]
  const renamed = { ...plugin, components: { ...plugin.components, skills } }
  const scenario = scenarioOf({ component_ref: 'Writing Rules', expected_component: 'Writing Rules' })
  await writeCases([scenario], { dir, plugin: renamed })
  expect(text('greet-direct-1/graders/triggers.md')).toContain(
    `input_match: '"skill"\\s*:\\s*"(?:demo:)?writing-rules"'`,
  )
  const { scenarios } = await readCases(root, { plugin: renamed })
  expect(scenarios).toMatchObject([{ component_ref: 'Writing Rules', expected_trigger: true }])
})

test('a blank case is read without a complaint, and is never written over another', async () => {
  const { root, dir, read, has } = await place()
  expect(writeBlankCase(dir, root, 'hello')).toEqual([
    `${dir}/hello/prompt.md`,
    `${dir}/hello/graders/criteria.md`,
  ])
  const { scenarios, problems } = await read()
  expect(problems).toEqual([])
  expect(scenarios).toMatchObject([{ id: 'hello', case: { max_turns: 10, graders: [{ type: 'llm' }] } }])
  expect(() => writeBlankCase(dir, root, 'hello')).toThrow('already exists')
  expect(() => writeBlankCase(dir, root, '../out')).toThrow('cannot be the name of a case')
  expect(has('../out')).toBe(false)
})

test('a scenario becomes a readable prompt and grader', async () => {
  const { write, text, has } = await place()
  const [outcome] = await write([scenarioOf({ reasoning: 'It is asked for by name.' })])
  expect(outcome).toMatchObject({ kind: 'written', scenario: 'greet-direct-1' })
  expect(text('greet-direct-1/prompt.md')).toBe(
    [
      '---',
      'description: It is asked for by name.',
      'tags:',
      '  - direct',
      '  - skill:greet',
      'allowed_tools:',
      '  - Read',
      '  - Glob',
      '  - Grep',
      '  - Skill',
      '  - Agent',
      '---',
      '',
      'Say hello to Bob',
      '',
    ].join('\n'),
  )
  expect(text('greet-direct-1/graders/triggers.md')).toBe(
    [
      '---',
      'type: tool_used',
      'tool: Skill',
      `input_match: '"skill"\\s*:\\s*"(?:demo:)?greet"'`,
      '---',
      '',
    ].join('\n'),
  )
  expect(has('greet-direct-1/case.yaml')).toBe(false)
})

test('scenarios of every kind are read back unchanged', async () => {
  const scenarios = [
    scenarioOf({ id: 'skill' }),
    scenarioOf({ id: 'skill-quiet', expected_trigger: false, scenario_type: 'negative' }),
    scenarioOf({ id: 'skill-edge-quiet', expected_trigger: false, scenario_type: 'edge_case' }),
    scenarioOf({ id: 'near', component_ref: 'greet-formally', expected_component: 'greet-formally' }),
    scenarioOf({
      id: 'semantic',
      scenario_type: 'semantic',
      semantic_variation_type: 'informal',
      tags: ['smoke'],
    }),
    scenarioOf({
      id: 'agent',
      component_type: 'agent',
      component_ref: 'reviewer',
      expected_component: 'reviewer',
    }),
    scenarioOf({
      id: 'typed',
      component_type: 'command',
      component_ref: 'deploy/staging',
      expected_component: 'deploy/staging',
      user_prompt: '/demo:deploy:staging now',
    }),
    scenarioOf({
      id: 'asked',
      component_type: 'command',
      component_ref: 'deploy/staging',
      expected_component: 'deploy/staging',
      user_prompt: 'Deploy to staging',
      expected_trigger: false,
      scenario_type: 'negative',
    }),
    scenarioOf({
      id: 'hook',
      component_type: 'hook',
      component_ref: 'PreToolUse::Write|Edit',
      expected_component: 'PreToolUse::Write|Edit',
      user_prompt: 'Write a file.',
      needs_tools: ['Write'],
      files: { 'README.md': "# It's a readme\n", 'src/a b.ts': '' },
    }),
    scenarioOf({
      id: 'hook-quiet',
      component_type: 'hook',
      component_ref: 'PreToolUse::Write|Edit',
      expected_component: 'PreToolUse::Write|Edit',
      expected_trigger: false,
      scenario_type: 'negative',
    }),
    scenarioOf({
      id: 'server',
      component_type: 'mcp_server',
      component_ref: 'weather',
      expected_component: 'weather',
    }),
    scenarioOf({
      id: 'server-quiet',
      component_type: 'mcp_server',
      component_ref: 'weather',
      expected_component: 'weather',
      expected_trigger: false,
      scenario_type: 'negative',
    }),
    scenarioOf({
      id: 'proactive',
      scenario_type: 'proactive',
      setup_messages: [
        { role: 'user', content: ' I have written code.\n' },
        { role: 'assistant', content: 'Good.' },
      ],
    }),
    scenarioOf({ id: 'Results', reasoning: 'a name that means something else' }),
  ]
  const { written, again } = await roundTrip(scenarios)
  expect(again.toSorted(byId)).toEqual(scenarios.map(asCase).toSorted(byId))
  expect(written.every(({ kind }) => kind === 'written')).toBe(true)
  const noted = written
    .filter(({ note }) => note?.includes('does not show') === true)
    .map(({ scenario }) => scenario)
  expect(noted).toEqual(['typed', 'hook', 'hook-quiet'])
})

test('a prompt is read back byte for byte', async () => {
  const part = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '\r\n',
    '---',
    '\t',
    '"',
    "'",
    ':',
    '#',
    '{{',
    '@x',
    '\\',
    'é',
    '😀',
    '\u00a0',
    '- ',
    '%',
  )
  const prompts = fc
    .array(part, { minLength: 1, maxLength: 8 })
    .map((parts) => parts.join(''))
    .filter((text) => text.trim() !== '')
  const samples = fc.sample(prompts, { numRuns: 60, seed: 7 })
  const scenarios = [...new Set(['---\nruns: 1\n---\nx', ' x ', '\uFEFFx', ...samples])].map(
    (user_prompt, index) => scenarioOf({ id: `p-${index}`, user_prompt }),
  )
  const { again } = await roundTrip(scenarios)
  expect(again.toSorted(byId)).toEqual(scenarios.map(asCase).toSorted(byId))
})

test('existing files are kept unless overwrite is set', async () => {
  const mine = '---\nruns: 1\n---\nmine\n'
  const { write, text, has } = await place({
    'evals/one/prompt.md': mine,
    'evals/two/case.yaml': 'schema_version: "1.1"\nname: two\n',
    'evals/three/notes.txt': 'not a case',
  })
  const scenarios = ['one', 'two', 'three'].map((id) => scenarioOf({ id }))
  const first = await write(scenarios)
  expect(first.map(({ kind }) => kind)).toEqual(['kept', 'kept', 'written'])
  expect(text('one/prompt.md')).toBe(mine)
  expect(has('one/graders')).toBe(false)
  expect(has('two/prompt.md')).toBe(false)
  expect((await write(scenarios)).map(({ kind }) => kind)).toEqual(['kept', 'kept', 'unchanged'])
  expect((await write(scenarios, true)).map(({ kind }) => kind)).toEqual(['written', 'written', 'unchanged'])
  expect(text('one/prompt.md')).toContain('Say hello to Bob')
  expect(text('three/notes.txt')).toBe('not a case')
})

test('existing cases are not written again, and scenarios that need files of another case are skipped', async () => {
  const { write, has } = await place()
  const facts = { dir: '/plugin/evals/a', graders: [] }
  expect(
    await write([
      scenarioOf({ id: 'a', origin: 'case', case: facts }),
      scenarioOf({ id: 'b', case: { ...facts, history_file: '/plugin/evals/a/h.jsonl' } }),
    ]),
  ).toEqual([
    { kind: 'kept', scenario: 'a', path: '/plugin/evals/a', note: 'it is already a case' },
    expect.objectContaining({ kind: 'skipped', note: 'it needs files of /plugin/evals/a' }),
  ])
  expect([has('a'), has('b')]).toEqual([false, false])
})

test('graders and settings of a scenario are written too', async () => {
  const facts = { weight: 2, arm: 'both' } as const
  const graders: readonly Grader[] = [
    {
      ...facts,
      name: 'a',
      type: 'regex',
      pattern: "it's \\d+\n",
      flags: 'gi',
      match: { count: 2 },
      target: 'trace',
    },
    {
      ...facts,
      name: 'b',
      type: 'tool_order',
      before: { tool: 'Read' },
      after: { tool: 'Write', input_match: '"x"' },
    },
    { ...facts, name: 'c', type: 'file_exists', path: '**/*.md', exists: false },
    {
      ...facts,
      name: 'd',
      type: 'llm',
      criteria: 'It is:\n\n- fine',
      focus: { source: 'file', path: 'a.md' },
    },
    { ...facts, name: 'e', type: 'llm', criteria: '  spaced', focus: 'last_message' },
    {
      ...facts,
      name: 'f',
      type: 'tool_used',
      use: { tool: 'Skill', input_match: '"demo:greet"' },
      min: 0,
      max: 3,
    },
  ]
  const settings = {
    runs: 4,
    model: 'opus',
    max_turns: 3,
    timeout_ms: 60_000,
    allowed_tools: ['Read'],
    disallowed_tools: ['Bash'],
    append_system_prompt: 'Be: kind',
    env: { EVAL_A: 'yes' },
  }
  const { write, read, root } = await place()
  await write([scenarioOf({ id: 'x', case: { dir: '/elsewhere', graders, ...settings } })])
  const { scenarios, problems } = await read()
  expect(problems).toEqual([])
  expect(scenarios).toMatchObject([
    { component_ref: 'greet', case: { dir: `${root}/evals/x`, graders, ...settings } },
  ])
})

test('ids that differ only in case, or are not valid file names, get separate directories', async () => {
  const scenarios = ['Same', 'same', 'a/b', '../up'].map((id, index) =>
    scenarioOf({ id, user_prompt: `p${index}` }),
  )
  const { write, read, has } = await place()
  const outcomes = await write(scenarios)
  expect(new Set(outcomes.map(({ path }) => path.toLowerCase())).size).toBe(4)
  expect(has('../up')).toBe(false)
  const { scenarios: again } = await read()
  expect(again.map(({ user_prompt }) => user_prompt).toSorted()).toEqual(['p0', 'p1', 'p2', 'p3'])
})

test('nothing is written through a link out of the plugin', async () => {
  const outside = await createFixture({})
  onTestFinished(() => outside.rm())
  const whole = await place({ 'README.md': 'x' })
  symlinkSync(outside.path, whole.dir)
  await expect(whole.write([scenarioOf()])).rejects.toMatchObject({ code: 'UNSAFE_PATH' })
  const one = await place({ 'evals/other/prompt.md': 'x' })
  symlinkSync(outside.path, `${one.dir}/greet-direct-1`)
  await expect(one.write([scenarioOf()], true)).rejects.toMatchObject({ code: 'UNSAFE_PATH' })
  expect(existsSync(outside.getPath('prompt.md'))).toBe(false)
})
