import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, smallScenario, writes } from '../support/project.ts'

describe('flag, then environment, then file, then default', () => {
  test('where runs are stored: AGENT_ARTIFACT_DIR, then results_path, then the home directory', async () => {
    using project = smallProject({ config: { results_path: 'my-results' } })
    expect((await gantryTest(project)).run_dir.startsWith(project.store)).toBe(true)
    expect(existsSync(project.path('my-results'))).toBe(false)
    const fromFile = await startWithoutStore(project)
    expect(fromFile).toContain(project.path('my-results/runs/'))
    const listed = await gantry(project, ['runs', 'list'], { env: { AGENT_ARTIFACT_DIR: '' } })
    expect(listed.stdout).toContain('case with worker')
    using plain = smallProject()
    expect(await startWithoutStore(plain)).toContain(`${plain.home}/.agent-artifacts/runs/`)
  })

  test('the agent: --agent, then GANTRY_AGENT, then the only one of the file', async () => {
    const worker = { driver: 'scripted', script: 'agents/worker.yaml' }
    using project = smallProject({ config: { agents: { a: worker, b: worker } } })
    const env = { GANTRY_AGENT: 'b' }
    expect(onlyTrial(await gantryTest(project, ['--agent', 'a'], { env })).agent).toBe('a')
    expect(onlyTrial(await gantryTest(project, [], { env })).agent).toBe('b')
    using one = smallProject()
    expect(onlyTrial(await gantryTest(one)).agent).toBe('worker')
  })

  test('the configuration: --config, then the gantry.yaml found upward, then none', async () => {
    using project = smallProject({
      files: {
        'other.yaml': { agents: { other: { driver: 'scripted', script: 'agents/worker.yaml' } } },
      },
    })
    expect(onlyTrial(await gantryTest(project, ['--config', 'other.yaml'])).agent).toBe('other')
    expect(onlyTrial(await gantryTest(project)).agent).toBe('worker')
    expect(onlyTrial(await gantryTest(project, [], { cwd: project.path('scenarios') })).agent).toBe('worker')
  })

  test('the time limit: --timeout, then the scenario, then 300 s', async () => {
    using project = smallProject({ scenario: { run: { timeout_secs: 0.2 } }, turns: [{ hang: true }] })
    expect(onlyTrial(await gantryTest(project)).durationMs).toBeLessThan(200_000)
    const longer = onlyTrial(await gantryTest(project, ['--timeout', '900ms']))
    expect(longer.durationMs).toBeGreaterThanOrEqual(850)
  })
})

describe('a configuration file', () => {
  test.each<[string, unknown, RegExp]>([
    ['that does not parse', 'agents: [', /gantry\.yaml:\d+:\d+/],
    ['with an unknown key', { agent: {} }, /gantry\.yaml:1:1: .*unknown key 'agent'.*agents/s],
    ['with a wrong type', { scenarios: 'x.yaml' }, /gantry\.yaml:\d+:\d+: scenarios/],
    ['with a bad pattern to redact', { redact: ['('] }, /\(/],
    ['with an unknown key of a profile', { profiles: { p: { agents: ['a'], model: [] } } }, /models/],
  ])('%s stops the run; defaults are never used in its place', async (_what, content, message) => {
    using project = smallProject({ files: { 'gantry.yaml': content } })
    const { code, stderr } = await gantry(project, ['test', '--agent', 'scripted:agents/worker.yaml'])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(existsSync(project.store)).toBe(false)
  })

  test('that was named and is not there is an error', async () => {
    using project = smallProject()
    const { code, stderr } = await gantry(project, ['test', '--config', 'nowhere.yaml'])
    expect(code).toBe(2)
    expect(stderr).toContain('nowhere.yaml')
  })

  test('says where scenarios are', async () => {
    using project = smallProject({
      config: { scenarios: ['special/*.yml'] },
      files: { 'special/mine.yml': smallScenario({ name: 'mine' }) },
    })
    expect(onlyTrial(await gantryTest(project)).case).toBe('mine')
  })
})

test('guidance can be compared: same prompt and gates, other AGENTS.md, one tag', async () => {
  const variant = (name: string) => smallScenario({ name, template_folder: name, tags: ['guidance'] })
  using project = smallProject({
    files: {
      'scenarios/terse.yaml': variant('terse'),
      'scenarios/wordy.yaml': variant('wordy'),
      'fixtures/terse/AGENTS.md': 'do\n',
      'fixtures/wordy/AGENTS.md': 'Write done.txt. For example: touch done.txt\n',
    },
    turns: [{ run: 'grep -q example AGENTS.md && touch done.txt' }],
  })
  const { summary } = await gantryTest(project, ['--tag', 'guidance', '--repeat', '2'])
  expect(summary.cases.map((entry) => [entry.case, entry.passRate.value])).toEqual([
    ['terse', 0],
    ['wordy', 1],
  ])
})

test('no tool of anybody is known to the framework: the same scenario works with any binary', async () => {
  using project = smallProject({
    scenario: { target: { binary: './bin/zzz-unheard-of' } },
    turns: [{ run: 'zzz-unheard-of make' }, writes('done.txt')],
    files: { 'bin/zzz-unheard-of': '#!/bin/sh\nexit 0\n' },
  })
  expect(onlyTrial(await gantryTest(project))).toMatchObject({
    verdict: 'pass',
    metrics: { total_commands: 1 },
  })
})

async function startWithoutStore(project: ReturnType<typeof smallProject>): Promise<string> {
  return (await gantryTest(project, [], { env: { AGENT_ARTIFACT_DIR: '' } })).run_dir
}
