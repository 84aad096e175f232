import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial, type RunDocument, startGantry } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

const made = ({ trials }: RunDocument): string[] =>
  trials.map((trial) => `${trial.case}/${trial.agent}/${trial.attempt}`)

function twoCases(): TestProject {
  const worker = { driver: 'scripted', script: 'agents/worker.yaml' }
  return smallProject({
    config: { agents: { worker, twin: worker } },
    files: {
      'scenarios/other.yaml': smallScenario({ name: 'other' }),
      'agents/worker.yaml': {
        ...agentScript([writes('done.txt')]),
        scripts: [{ when: { case: 'case', attempt: 2 }, turns: [] }],
      },
    },
  })
}

describe('--rerun-failed', () => {
  test('makes exactly the trials that did not pass, anew', async () => {
    using project = twoCases()
    const first = await gantryTest(project, ['--agent', 'worker,twin', '--repeat', '2'])
    expect(first.summary.counts).toMatchObject({ pass: 6, fail: 2 })
    const again = await gantryTest(project, ['--rerun-failed'])
    expect(made(again)).toEqual(['case/worker/2', 'case/twin/2'])
    expect(again.trials.every(({ cachedFrom }) => cachedFrom === null)).toBe(true)
    expect(again.run_id).not.toBe(first.run_id)
  })

  test('takes a run by its id, and passes once the cause is fixed', async () => {
    using project = twoCases()
    const { run_id } = await gantryTest(project, ['--agent', 'worker', '--repeat', '2'])
    await gantryTest(project, ['--agent', 'worker', 'other'])
    project.write({ 'agents/worker.yaml': agentScript([writes('done.txt')]) })
    const again = await gantryTest(project, ['--rerun-failed', run_id])
    expect(again).toMatchObject({ code: 0, summary: { trials: 1, counts: { pass: 1 } } })
  })

  test('takes the last run of this project, and refuses one of another', async () => {
    using project = twoCases()
    using other = twoCases()
    const env = { AGENT_ARTIFACT_DIR: project.store }
    const argv = ['--agent', 'worker', '--repeat', '2']
    const first = await gantryTest(project, argv)
    const foreign = await gantryTest(other, argv, { env })
    expect(made(await gantryTest(project, ['--rerun-failed']))).toEqual(['case/worker/2'])
    const refused = await gantry(project, ['test', '--rerun-failed', foreign.run_id])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is of another project') })
    expect(first.run_id).not.toBe(foreign.run_id)
  })

  test('has nothing to do after a run in which all passed, and says so', async () => {
    using project = smallProject()
    await gantryTest(project)
    const { code, stderr } = await gantry(project, ['test', '--rerun-failed'])
    expect(code).toBe(2)
    expect(stderr).toContain('every trial')
  })

  test('keeps what the earlier run was asked, such as --no-judge', async () => {
    using project = smallProject({
      scenario: {
        evaluation: {
          gates: [{ type: 'file_exists', path: 'done.txt' }],
          judge: { enabled: true, rubric: 'r.yaml', pass_threshold: 0.5 },
        },
      },
      turns: [],
      files: { 'scenarios/r.yaml': { criteria: [{ id: 'a', weight: 1, description: 'd' }] } },
    })
    await gantryTest(project, ['--no-judge'])
    expect(onlyTrial(await gantryTest(project, ['--rerun-failed']))).toMatchObject({
      verdict: 'fail',
      judge: null,
    })
  })
})

describe('--resume', () => {
  const counting = (): TestProject =>
    smallProject({
      scenario: { target: { binary: 'sh', env: { MADE: `$\{MADE}` } } },
      turns: [
        { run: 'echo "$GANTRY_ATTEMPT" >> "$MADE"' },
        { usage: { input_tokens: 1, cost_usd: 0.4 } },
        writes('done.txt'),
      ],
    })

  test('runs the trials that the budget left out, in the same run, and none twice', async () => {
    using project = counting()
    const env = { MADE: project.path('made') }
    const first = await gantryTest(project, ['--repeat', '4', '-j', '1', '--max-cost-usd', '0.8'], { env })
    expect(first.summary).toMatchObject({ counts: { pass: 2 }, notRun: 2 })
    const resumed = await gantryTest(project, ['--resume', first.run_id, '--max-cost-usd', '5'], { env })
    expect(resumed).toMatchObject({ run_id: first.run_id, code: 0 })
    expect(resumed.summary).toMatchObject({ counts: { pass: 4 }, notRun: 0, trials: 4 })
    expect(project.read('made').trim().split('\n').sort()).toEqual(['1', '2', '3', '4'])
  })

  test('does not forget what the run has cost already', async () => {
    using project = counting()
    const env = { MADE: project.path('made') }
    const first = await gantryTest(project, ['--repeat', '4', '-j', '1', '--max-cost-usd', '0.8'], { env })
    const resumed = await gantryTest(project, ['--resume', first.run_id], { env })
    expect(resumed.summary).toMatchObject({ counts: { pass: 2 }, notRun: 2 })
  })

  test('makes a trial anew that the budget had cut off in the middle', async () => {
    using project = counting()
    const env = { MADE: project.path('made') }
    const first = await gantryTest(project, ['-j', '1', '--max-cost-usd', '0.3'], { env })
    expect(first.summary).toMatchObject({ trials: 0, notRun: 1 })
    const resumed = await gantryTest(project, ['--resume', first.run_id, '--max-cost-usd', '5'], { env })
    expect(onlyTrial(resumed)).toMatchObject({ verdict: 'pass', ending: 'exited' })
  })

  test('goes on after Ctrl-C: what is finished is kept, the rest is made', async () => {
    using project = smallProject({
      scenario: { target: { binary: 'sh', env: { MADE: `$\{MADE}` } } },
      turns: [{ run: 'echo "$GANTRY_ATTEMPT" >> "$MADE"' }, { wait: '400ms' }, writes('done.txt')],
    })
    const env = { MADE: project.path('made') }
    const { child, ended } = startGantry(project, ['test', '--repeat', '3', '-j', '1'], { env })
    while (!existsSync(env.MADE) || !project.read('made').includes('2'))
      await new Promise((go) => setTimeout(go, 20))
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    const [runId = ''] = readdirSync(`${project.store}/runs`)
    const resumed = await gantryTest(project, ['--resume', runId], { env })
    expect(resumed.summary.counts).toMatchObject({ pass: 3 })
    const attempts = project.read('made').trim().split('\n')
    expect(attempts.filter((attempt) => attempt === '1')).toHaveLength(1)
  })

  test('refuses to mix two versions of a scenario', async () => {
    using project = counting()
    const env = { MADE: project.path('made') }
    const first = await gantryTest(project, ['--repeat', '2', '-j', '1', '--max-cost-usd', '0.4'], { env })
    project.write({ 'fixtures/template/AGENTS.md': 'Other guidance.\n' })
    const { code, stderr } = await gantry(project, ['test', '--resume', first.run_id], { env })
    expect(code).toBe(2)
    expect(stderr).toContain('has changed since it started')
  })

  test.each([
    ['case', []],
    ['--agent', ['worker']],
    ['--repeat', ['3']],
    ['--timeout', ['3s']],
    ['--no-judge', []],
    ['--rerun-failed', []],
    ['--replay', ['strict']],
    ['--cassettes', ['recorded']],
    ['--fault', ['429@0']],
  ])('refuses %s beside it instead of ignoring it', async (flag, values) => {
    using project = smallProject()
    const { run_id } = await gantryTest(project)
    const { code, stderr } = await gantry(project, ['test', '--resume', run_id, flag, ...values])
    expect(code).toBe(2)
    expect(stderr).toContain('--resume continues a run as it was planned')
    expect(stderr).toContain(`${flag === 'case' ? 'paths' : flag} would change it`)
  })

  test('of an unknown run is an error', async () => {
    using project = smallProject()
    await gantryTest(project)
    expect((await gantry(project, ['test', '--resume', 'run_20000101_000000_aaaaaa'])).code).toBe(2)
  })
})
