import { expect, test } from 'vitest'
import { smallProject } from '../../test/e2e/support/project.ts'
import { planScenarios, runScenarios } from './run-scenarios.ts'

const plan = (
  { dir, store }: ReturnType<typeof smallProject>,
  asked: Partial<Parameters<typeof planScenarios>[0]> = {},
  env: Readonly<Record<string, string>> = {},
) =>
  planScenarios(
    { cwd: dir, ...asked },
    { env: { PATH: process.env.PATH, AGENT_ARTIFACT_DIR: store, ...env } },
  )

const claude = (more: object = {}) => ({
  config: { agents: { real: { driver: 'claude-code', binary: './claude', ...more } } },
  files: { claude: '#!/bin/sh\necho "2.1.200 (Claude Code)"\n' },
})

test('a missing key is found before the first trial, also when it would be recorded, and the hint names the HOME', async () => {
  using project = smallProject(claude())
  for (const replay of ['off', 'record', 'auto'] as const)
    await expect(plan(project, { agents: ['real'], replay })).rejects.toMatchObject({
      message: "agent 'real' cannot proceed without model access",
      hint: expect.stringMatching(
        /Set ANTHROPIC_API_KEY.*CLAUDE_CODE_OAUTH_TOKEN.*A login is not enough.*home: host/s,
      ),
    })
  await expect(plan(project, { agents: ['real'], replay: 'strict' })).resolves.toMatchObject({ trials: 1 })
  const key = { ANTHROPIC_API_KEY: 'made-up' }
  await expect(plan(project, { agents: ['real'] }, key)).resolves.toMatchObject({ trials: 1 })
})

test('a login may be enough for an agent in the HOME of the caller', async () => {
  using project = smallProject(claude({ home: 'host' }))
  await expect(plan(project, { agents: ['real'] })).resolves.toMatchObject({ trials: 1 })
})

test('a gate about tools is refused for an agent whose output is text', async () => {
  const gates = [
    { type: 'file_exists', path: 'done.txt' },
    { type: 'tool_called', tool: 'Bash' },
  ]
  const mine = { driver: 'command', command: ['true'], output: 'text' }
  using project = smallProject({ gates, config: { agents: { mine } } })
  await expect(plan(project, { agents: ['mine'] })).rejects.toMatchObject({
    code: 'INVALID_FILE',
    message: "the gate tool_called needs to see the tools that 'mine' uses, but its output is text",
    at: { file: expect.stringContaining('case.yaml') },
  })
  project.write({ 'gantry.yaml': { agents: { mine: { ...mine, output: 'events' } } } })
  await expect(plan(project, { agents: ['mine'] })).resolves.toMatchObject({ trials: 1 })
})

test('nothing can be recorded of an agent that never calls a model', async () => {
  using project = smallProject()
  await expect(plan(project, { replay: 'record' })).rejects.toThrow('never calls a model')
  await expect(plan(project, { faults: ['429'] })).rejects.toThrow('no faults can be injected')
})

const size = { evaluators: [{ name: 'size', command: './size.sh' }] }

test.each([
  ['an evaluator that does not exist', size, {}, './size.sh does not exist'],
  [
    'an evaluator that is not executable',
    size,
    { 'fixtures/own/size.sh': 'echo 1\n' },
    './size.sh is not executable',
  ],
  ['a post script that does not exist', { post: [{ command: './tidy.sh' }] }, {}, './tidy.sh does not exist'],
  [
    'a post script that is not executable',
    { post: [{ command: './tidy.sh' }] },
    { 'fixtures/own/tidy.sh': 'true\n' },
    './tidy.sh is not executable',
  ],
  [
    'a post script of sh',
    { post: [{ command: 'sh -e scripts/tidy.sh' }] },
    {},
    'scripts/tidy.sh does not exist',
  ],
  [
    'a program that is not on PATH, and a missing evaluator beside it,',
    {
      post: [{ command: 'cd . && true' }, { command: 'nosuchprogram --x' }],
      evaluators: [{ name: 'a', command: 'python3 scripts/a.py' }],
    },
    {},
    "the program 'nosuchprogram' is not on PATH; scripts/a.py does not exist",
  ],
])('%s is refused before the run', async (_, scripts, files, message) => {
  using project = smallProject({
    scenario: { scripts, template_folder: 'own' },
    files: { 'fixtures/own/.keep': '', ...files },
  })
  await expect(plan(project)).rejects.toThrow(message)
})

test('a script gate whose script is missing or not executable is refused, and a command that the agent may make is not', async () => {
  const checked = (gate: object, files = {}) =>
    smallProject({
      gates: [gate as Record<string, unknown>],
      scenario: { template_folder: 'own' },
      files: { 'fixtures/own/.keep': '', ...files },
    })
  using missing = checked({ type: 'script', command: './check.sh', description: 'it holds' })
  await expect(plan(missing)).rejects.toMatchObject({
    message: expect.stringContaining('./check.sh does not exist'),
    hint: expect.stringContaining('command_succeeds'),
    at: { file: expect.stringContaining('case.yaml') },
  })
  using locked = checked(
    { type: 'script', command: './check.sh', description: 'it holds' },
    { 'fixtures/own/check.sh': 'true\n' },
  )
  await expect(plan(locked)).rejects.toThrow('./check.sh is not executable')
  using agents = checked({ type: 'command_succeeds', command: './made-by-the-agent.sh' })
  await expect(plan(agents)).resolves.toMatchObject({ trials: 1 })
})

test('only a gate is told to use command_succeeds, and what the prompt asks for may be missing', async () => {
  const checked = (command: string) =>
    smallProject({
      scenario: {
        template_folder: 'own',
        task: { prompt: 'Write main.py.' },
        scripts: { post: [{ command }] },
      },
      files: { 'fixtures/own/.keep': '' },
    })
  using missing = checked('python3 check.py')
  await expect(plan(missing)).rejects.toMatchObject({ hint: expect.not.stringContaining('command_succeeds') })
  using agents = checked('python3 main.py')
  await expect(plan(agents)).resolves.toMatchObject({ trials: 1 })
})

test('a script that setup may create or unlock is not refused', async () => {
  using project = smallProject({ scenario: { setup: { commands: ['true'] }, scripts: size } })
  await expect(plan(project)).resolves.toMatchObject({ trials: 1 })
})

test('a cap without effect and a gate that can see nothing are named when the run starts', async () => {
  const mine = { driver: 'command', command: ['true'], output: 'text' }
  using project = smallProject({
    gates: [{ type: 'no_transcript_errors' }],
    scenario: { target: { binary: './tool' }, template_folder: 'own' },
    config: { agents: { mine } },
    files: { 'fixtures/own/tool': '#!/bin/sh\n' },
  })
  const notes: string[] = []
  await runScenarios(
    { cwd: project.dir, agents: ['mine'], maxCostUsd: 1 },
    {
      env: { PATH: process.env.PATH, AGENT_ARTIFACT_DIR: project.store },
      reporters: [{ note: ({ message }) => void notes.push(message) }],
    },
  )
  expect(notes.join('\n')).toContain('--max-cost-usd has no effect on mine')
  expect(notes.join('\n')).toContain("no_transcript_errors proves nothing in 'case' with 'mine'")
})
