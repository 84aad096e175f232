import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest } from '../support/gantry.ts'
import { agentScript, smallProject, writes } from '../support/project.ts'

describe('money that bought no record', () => {
  test('is in the bill: tries that broke, and one that the budget cut off', async () => {
    using project = smallProject({
      turns: [{ usage: { cost_usd: 0.01 } }, { infra: { reason: 'unavailable' } }],
    })
    const broken = await gantryTest(project, ['--infra-retries', '2'])
    expect(broken.summary.counts.infra).toBe(1)
    expect(broken.summary.costUsd).toBeCloseTo(0.03)
    project.write({ 'agents/worker.yaml': agentScript([{ overspend: 0.01 }]) })
    const cut = await gantryTest(project, ['--max-cost-usd', '0.05'])
    expect(cut.summary.notRun).toBe(1)
    expect(cut.summary.costUsd).toBeGreaterThan(0.05)
    expect(readdirSync(join(cut.run_dir, 'trials'))).toEqual([expect.stringMatching(/\.over-budget-1$/)])
  })

  test('still counts against the budget when the run goes on', async () => {
    using project = smallProject({ turns: [{ overspend: 0.01 }] })
    const first = await gantryTest(project, ['--max-cost-usd', '0.05'])
    const again = await gantryTest(project, ['--resume', first.run_id, '--max-cost-usd', '0.055'])
    expect(again.summary).toMatchObject({ notRun: 1, costUsd: first.summary.costUsd })
  })
})

test('a run that can cost nothing is marked as free, and any other is not', async () => {
  using project = smallProject()
  const free = async () => {
    const { run_dir } = await gantryTest(project, ['--no-cache'])
    return JSON.parse(readFileSync(join(run_dir, 'manifest.json'), 'utf8')).details.free
  }
  expect(await free()).toBe(true)
  project.write({
    'gantry.yaml': { agents: { worker: { driver: 'command', command: ['touch', 'done.txt'] } } },
  })
  expect(await free()).toBeUndefined()
})

describe('an agent that breaks at its start', () => {
  test('is reported with what it wrote to standard error', async () => {
    const command = (script: string) => ({
      config: { agents: { worker: { driver: 'command', command: ['sh', '-c', script] } } },
    })
    using missing = smallProject(command('no-such-program-at-all'))
    const infra = await gantryTest(missing, ['--infra-retries', '0'])
    expect(infra.trials[0]?.reason).toMatch(/could not be run \(exit 127\): .*no-such-program-at-all/)
    using failing = smallProject(command('echo "config.toml is missing" >&2; exit 2'))
    const fail = await gantryTest(failing)
    expect(fail.trials[0]).toMatchObject({
      verdict: 'fail',
      warnings: ['the agent exited with code 2: config.toml is missing'],
    })
  })
})

describe('a trial that was infra', () => {
  test('is made again by --resume once the cause is fixed, and its files are kept', async () => {
    const flag = 'MENDED'
    const turns = [{ run: `test -e "$${flag}" && touch done.txt` }]
    using project = smallProject({
      scenario: { target: { binary: 'sh', env: { [flag]: `$\{${flag}}` } } },
      files: {
        'agents/wrapper.sh': `#!/bin/sh\ntest -e "$${flag}" || exit 127\ntouch done.txt\n`,
      },
      turns,
      config: { agents: { worker: { driver: 'command', command: ['sh', './agents/wrapper.sh'] } } },
    })
    const env = { [flag]: project.path('mended') }
    const broken = await gantryTest(project, ['--infra-retries', '0'], { env })
    expect(broken).toMatchObject({ code: 3, summary: { counts: { infra: 1 } } })
    project.write({ mended: 'yes' })
    const again = await gantryTest(project, ['--resume', broken.run_id], { env })
    expect(again).toMatchObject({ code: 0, summary: { counts: { pass: 1, infra: 0 } } })
    expect(again.trials).toHaveLength(1)
    expect(readdirSync(join(again.run_dir, 'trials'))).toContainEqual(expect.stringMatching(/\.infra-1$/))
    expect((await gantryTest(project, ['--resume', broken.run_id], { env })).trials).toHaveLength(1)
  })
})

test('a threshold makes failures tolerable: the verdict, the exit code and the words agree', async () => {
  using project = smallProject({
    files: {
      'agents/worker.yaml': {
        name: 'worker',
        scripts: [{ when: { attempt: 1 }, turns: [{ say: 'Done!' }] }],
        turns: [writes('done.txt')],
      },
    },
  })
  const argv = ['--repeat', '4', '--threshold']
  expect(await gantryTest(project, [...argv, '0.7'])).toMatchObject({ code: 0, summary: { verdict: 'pass' } })
  expect(await gantryTest(project, [...argv, '0.8'])).toMatchObject({ code: 1, summary: { verdict: 'fail' } })
  expect((await gantry(project, ['test', ...argv, '0.7'])).stdout).toContain('PASS')
})

test('a run without results is not a success', async () => {
  using project = smallProject({ turns: [{ overspend: 0.01 }] })
  const run = await gantryTest(project, ['--max-cost-usd', '0.05'])
  expect(run).toMatchObject({ code: 4, summary: { verdict: 'partial', notRun: 1 } })
})

test('a repository around the store is invisible to the agent and to the gates', async () => {
  using project = smallProject({
    turns: [{ run: 'git rev-parse --show-toplevel > found.txt 2>&1 || true' }, writes('done.txt')],
    gates: [
      { type: 'file_contains', path: 'found.txt', substring: 'not a git repository' },
      { type: 'command_output_contains', command: 'git status 2>&1', substring: 'not a git repository' },
    ],
    scenario: { target: { binary: 'git' } },
  })
  const outer = project.path('outer')
  project.write({
    'outer/.git/HEAD': 'ref: refs/heads/main\n',
    'outer/.git/objects/x': '',
    'outer/.git/refs/x': '',
  })
  const run = await gantryTest(project, [], { env: { AGENT_ARTIFACT_DIR: join(outer, 'store') } })
  expect(run.trials[0]?.gates.map((gate) => gate.passed)).toEqual([true, true])
})
