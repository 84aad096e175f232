import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { agentScript, smallProject, type TestProject } from '../support/project.ts'
import { trialText } from '../support/trial-files.ts'

const secrets = {
  /** A variable of the caller whose name says what it is. */
  caller: 'c4ller-v4lue-0123456789',
  /** Written into the scenario’s target.env. */
  target: 't4rget-v4lue-9876543210',
  /** Given to the agent by gantry.yaml, from a variable with an innocent name. */
  agent: 'ag3nt-v4lue-5566778899',
  openai: 'sk-abcdefghijklmnopqrstuvwx1234',
  bearer: 'b3arer.t0ken-part.of-header',
  /** Matches a pattern of gantry.yaml. */
  pattern: 'ACME-4711-0815',
  password: 'hunter2hunter2',
}
const leak = (from: string): string =>
  `${from}: ${secrets.caller} ${secrets.target} ${secrets.agent} ${secrets.openai} Bearer ${secrets.bearer} ${secrets.pattern} password: ${secrets.password}`
const sh = (from: string): string => `echo '${leak(from)}'`

/** Everything that can print prints every secret. */
function leakyProject(): TestProject {
  return smallProject({
    scenario: {
      target: {
        binary: 'sh',
        health_check: sh('health'),
        env: { TOOL_TOKEN: secrets.target, CALLER: `$\{MY_API_KEY}` },
      },
      task: { prompt: leak('prompt') },
      setup: { commands: [sh('setup')] },
      scripts: {
        post: [{ command: `${sh('post')}; exit 1` }],
        evaluators: [{ name: 'e', command: sh('evaluator') }],
      },
      evaluation: {
        gates: [
          { type: 'command_output_contains', command: sh('gate'), substring: 'never there' },
          {
            type: 'script',
            command: `echo '{"passed": false, "message": "${leak('script gate')}"}'`,
            description: 'd',
          },
          { type: 'file_contains', path: 'done.txt', substring: 'x' },
        ],
        judge: { enabled: true, rubric: 'r.yaml', pass_threshold: 0.5, always: true },
      },
    },
    config: {
      redact: ['ACME-\\d+-\\d+'],
      agents: {
        worker: {
          driver: 'command',
          command: ['sh', './agent.sh', '{prompt}'],
          output: 'events',
          env: { AGENT_SECRET: `$\{PLAIN_NAME}` },
        },
      },
    },
    files: {
      'agent.sh': [
        `echo '{"event":"message","role":"assistant","text":"${leak('message')}"}'`,
        `echo '{"event":"tool_call","id":"1","tool":"Bash","command":"curl -H \\"Bearer ${secrets.bearer}\\" ${secrets.caller}"}'`,
        `echo '{"event":"tool_result","id":"1","output":"${leak('result')}","exit_code":0}'`,
        `echo 'not an event ${leak('raw')}'`,
        `echo '${leak('stderr')}' >&2`,
        'echo x > done.txt',
        'exit 1',
      ].join('\n'),
      'scenarios/r.yaml': { criteria: [{ id: 'a', weight: 1, description: 'd' }] },
      'judge.yaml': {
        answers: [{ json: { scores: { a: 1 }, confidence: 1, issues: [leak('judge')], highlights: [] } }],
      },
    },
  })
}

const env = { MY_API_KEY: secrets.caller, PLAIN_NAME: secrets.agent }
const reporters = ['junit', 'tap', 'md', 'html', 'github', 'json']
const argv = [
  ...['test', '--judge-model', 'scripted:judge.yaml', '--infra-retries', '0'],
  ...reporters.flatMap((name) => ['--reporter', `${name}:reports/${name}`]),
]

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
}

test('no secret reaches any file of the store, any report or the screen, whatever its source', async () => {
  using project = leakyProject()
  const { stdout, stderr, code } = await gantry(project, argv, { env })
  expect(code).toBe(1)
  const files = [...filesBelow(project.store), ...filesBelow(project.path('reports'))].filter(
    (path) => !/\/trials\/[^/]+\/(fixture|home)\//.test(path),
  )
  expect(files.some((path) => path.endsWith('events.jsonl'))).toBe(true)
  expect(files.length).toBeGreaterThan(15)
  const texts: [string, string][] = files.map((path) => [path, readFileSync(path, 'latin1')])
  const found = [...texts, ['stdout', stdout] as const, ['stderr', stderr] as const].flatMap(
    ([where, text]) =>
      Object.entries(secrets).flatMap(([name, secret]) =>
        text.includes(secret) ? [`${name} in ${where}`] : [],
      ),
  )
  expect(found).toEqual([])
})

test('what is not secret stays readable beside it', async () => {
  using project = leakyProject()
  const run = await gantryTest(project, ['--no-judge', '--infra-retries', '0'], { env })
  const trial = onlyTrial(run)
  const events = trialText(trial, 'events.jsonl')
  for (const from of ['setup: ', 'health: ', 'post: ', 'message: ', 'result: '])
    expect(events).toContain(from)
  expect(events).toMatch(/Bearer \[/)
  expect(events).toMatch(/sk-\[/)
  expect(trialText(trial, 'transcript.raw.txt')).toContain('raw: ')
})

describe('what points to a person', () => {
  const person = 'mail jane.doe@example.com about /home/jane/notes and /Users/jane/notes'
  const withPerson = () =>
    smallProject({
      turns: [{ say: person }],
      gates: [
        { type: 'script', command: `echo '{"passed": false, "message": "${person}"}'`, description: 'd' },
        { type: 'tool_called', tool: 'Write' },
      ],
    })

  test('is left out of every report that people read', async () => {
    using project = withPerson()
    const paths = ['junit', 'md', 'html', 'tap'].map((name) => `reports/${name}`)
    const { stdout } = await gantry(project, [
      'test',
      ...['junit', 'md', 'html', 'tap'].flatMap((name) => ['--reporter', `${name}:reports/${name}`]),
    ])
    const trial = onlyTrial(await gantryTest(project))
    const texts = [stdout, trialText(trial, 'evaluation.md'), ...paths.map((path) => project.read(path))]
    for (const text of texts) {
      expect(text).not.toContain('jane')
      expect(text).toContain('notes')
    }
  })

  test('stays in the raw transcript, which is marked as sensitive', async () => {
    using project = withPerson()
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'transcript.raw.txt')).toContain('jane.doe@example.com')
    expect(JSON.parse(trialText(trial, 'run.json'))).toMatchObject({ transcript_is_sensitive: true })
  })
})

test('names of scenarios, agents and models are never taken for secrets', async () => {
  using project = smallProject({ scenario: { name: 'token: handling by a@b.example.com' } })
  const trial = onlyTrial(await gantryTest(project, ['--model', 'secret=model']))
  expect(trial).toMatchObject({ case: 'token: handling by a@b.example.com', model: 'secret=model' })
})

test('two commands that differ in a secret only are two commands', async () => {
  using project = smallProject({
    scenario: { target: { binary: './bin/tool' } },
    files: {
      'bin/tool': '#!/bin/sh\n',
      'agents/worker.yaml': agentScript([
        { run: 'tool login --token aaaaaaaaaaaa' },
        { run: 'tool login --token bbbbbbbbbbbb' },
      ]),
    },
  })
  const { metrics } = onlyTrial(await gantryTest(project))
  expect(metrics).toMatchObject({ total_commands: 2, unique_commands: 2, retry_count: 0 })
})
