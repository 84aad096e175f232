import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialEvents } from '../support/trial-files.ts'

const paid = (cost_usd: number) => [{ usage: { input_tokens: 10, cost_usd } }, writes('done.txt')]

describe('the budget of a run', () => {
  test('--max-cost-usd stops it before the trial that would exceed it, and --strict exits with 4', async () => {
    using project = smallProject({ turns: paid(0.4) })
    const run = await gantryTest(project, ['--repeat', '5', '-j', '1', '--max-cost-usd', '1', '--strict'])
    expect(run.summary.counts.pass).toBe(2)
    expect(run.summary.notRun).toBe(3)
    expect(run.summary.verdict).toBe('partial')
    expect(run.code).toBe(4)
  })

  test('a trial never starts once everything is spent', async () => {
    using project = smallProject({
      turns: [{ run: 'echo x >> "$PAID"' }, ...paid(0.5)],
      scenario: { target: { binary: 'sh', env: { PAID: `$\{PAID}` } } },
    })
    const env = { PAID: project.path('paid') }
    const run = await gantryTest(project, ['--repeat', '4', '-j', '1', '--max-cost-usd', '1'], { env })
    expect(run.summary).toMatchObject({ counts: { pass: 2 }, notRun: 2, costUsd: 1 })
    expect(project.read('paid')).toBe('x\nx\n')
  })

  test('is reserved per trial: one that fits is finished and counted, and the report says why the other did not run', async () => {
    using project = smallProject({ turns: [{ wait: '50ms' }, ...paid(0.006)] })
    const argv = ['--repeat', '2', '-j', '2', '--max-cost-usd', '0.008']
    const run = await gantryTest(project, argv)
    expect(run.summary).toMatchObject({ counts: { pass: 1 }, notRun: 1, costUsd: 0.006 })
    const { stdout } = await gantry(project, ['runs', 'report', run.run_id])
    expect(stdout).toContain('1 planned trial did not run: the budget of $0.0080 has $0.0020 left')
    const again = await gantryTest(project, ['--resume', run.run_id, '--max-cost-usd', '0.02'])
    expect(again.summary).toMatchObject({ counts: { pass: 2 }, notRun: 0, costUsd: 0.012 })
  })

  test('does not start a trial that cost more in an earlier run', async () => {
    using project = smallProject({ turns: paid(0.006) })
    await gantryTest(project, ['--no-cache'])
    const run = await gantryTest(project, ['--no-cache', '--max-cost-usd', '0.005'])
    expect(run.summary).toMatchObject({ notRun: 1, costUsd: null })
    // Neither in this case nor in another one.
    const text = project.read('scenarios/case.yaml').replace(/name: .*/, 'name: other')
    project.write({ 'scenarios/other.yaml': text })
    const other = await gantry(project, ['test', '--filter', 'other', '--max-cost-usd', '0.005'])
    expect(other.stdout).toMatch(/trial like it\s+costs about \$0\.0060/)
  })

  test('counts work that is done although its last call went beyond its share, and --resume does not pay for it again', async () => {
    using project = smallProject({ turns: [writes('done.txt'), { usage: { cost_usd: 0.02 } }] })
    const run = await gantryTest(project, ['--max-cost-usd', '0.01'])
    expect(run.summary).toMatchObject({ counts: { pass: 1 }, notRun: 0, costUsd: 0.02 })
    expect(onlyTrial(run).warnings).toEqual([expect.stringContaining('a cost limit stopped the agent')])
    const again = await gantryTest(project, ['--resume', run.run_id, '--max-cost-usd', '1'])
    expect(again.summary).toMatchObject({ counts: { pass: 1 }, costUsd: 0.02 })
  })

  test('does not cut a trial that has begun while money is left', async () => {
    using project = smallProject({
      files: {
        'agents/worker.yaml': {
          name: 'worker',
          version: '1',
          scripts: [{ when: { attempt: 1 }, turns: paid(0.01) }],
          turns: [
            { usage: { cost_usd: 0.3 } },
            { wait: '20ms' },
            { usage: { cost_usd: 0.3 } },
            writes('done.txt'),
          ],
        },
      },
    })
    const run = await gantryTest(project, ['--repeat', '2', '-j', '4', '--max-cost-usd', '1'])
    expect(run.summary).toMatchObject({ counts: { pass: 2 }, notRun: 0 })
    expect(run.trials.map(({ ending }) => ending)).toEqual(['exited', 'exited'])
  })

  test('two hands at work share it evenly', async () => {
    using project = smallProject({ turns: [{ wait: '50ms' }, ...paid(0.4)] })
    const run = await gantryTest(project, ['--repeat', '2', '-j', '2', '--max-cost-usd', '1'])
    expect(run.summary).toMatchObject({ counts: { pass: 2 }, notRun: 0 })
  })

  test.each(['GANTRY_BUDGET_USD', 'LLM_TOOL_TEST_BUDGET_USD'])('comes from %s too', async (name) => {
    using project = smallProject({ turns: paid(0.4) })
    const argv = ['--repeat', '3', '-j', '1']
    const run = await gantryTest(project, argv, { env: { [name]: '0.5' } })
    expect(run.summary).toMatchObject({ counts: { pass: 1 }, notRun: 2 })
  })

  test('of the flag wins over the environment', async () => {
    using project = smallProject({ turns: paid(0.4) })
    const env = { GANTRY_BUDGET_USD: '0.5' }
    const run = await gantryTest(project, ['--repeat', '2', '--max-cost-usd', '5'], { env })
    expect(run.summary.notRun).toBe(0)
  })

  test('below the estimate of earlier runs is warned about before anything is spent', async () => {
    using project = smallProject({ turns: paid(0.4) })
    await gantryTest(project, ['--no-cache'])
    const argv = ['test', '--no-cache', '--repeat', '5', '-j', '1', '--max-cost-usd']
    expect((await gantry(project, [...argv, '1'])).stderr).toContain(
      'would cost about $2.00, but stops at $1.00',
    )
    expect((await gantry(project, [...argv, '3'])).stderr).toBe('')
  })

  test('that is not an amount is refused', async () => {
    using project = smallProject()
    const { code, stderr } = await gantry(project, ['test'], { env: { GANTRY_BUDGET_USD: 'much' } })
    expect(code).toBe(2)
    expect(stderr).toContain('"much"')
    expect((await gantry(project, ['test', '--max-cost-usd', '-1'])).code).toBe(2)
  })

  test('is not eaten by trials that cost nothing: invalid ones, and ones from the cache', async () => {
    using invalid = smallProject({ scenario: { setup: { commands: ['false'] } } })
    const broken = await gantryTest(invalid, ['--repeat', '3', '-j', '1', '--max-cost-usd', '1'])
    expect(broken.summary).toMatchObject({ counts: { invalid: 3 }, notRun: 0 })
    using project = smallProject({ turns: paid(0.4) })
    const argv = ['--repeat', '2', '-j', '1', '--max-cost-usd']
    await gantryTest(project, [...argv, '1'])
    expect((await gantryTest(project, [...argv, '0.01'])).summary).toMatchObject({ cached: 2, notRun: 0 })
  })

  test('does not stop agents with unknown cost, and says that it cannot', async () => {
    using project = smallProject({
      config: { agents: { sh: { driver: 'command', command: ['touch', 'done.txt'] } } },
    })
    const argv = ['test', '--repeat', '4', '-j', '1', '--max-cost-usd', '1']
    const { stdout, code } = await gantry(project, argv)
    expect(code).toBe(0)
    expect(stdout).toMatch(/unmetered|unknown/)
  })
})

describe('the budget of a trial', () => {
  test('cost.max_usd stops the agent, and the gates judge what it left', async () => {
    using project = smallProject({ scenario: { cost: { max_usd: 0.5 } }, turns: [{ overspend: 0.2 }] })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({ verdict: 'fail', ending: 'over_budget', metrics: { completed: false } })
    expect(trial.costUsd).toBeLessThan(1)
    expect(trialEvents(trial, 'complete')).toMatchObject([{ ending: 'over_budget' }])
  })

  test('that is smaller than the run’s wins, and the run goes on', async () => {
    using project = smallProject({ scenario: { cost: { max_usd: 0.1 } }, turns: [{ overspend: 0.06 }] })
    const run = await gantryTest(project, ['--repeat', '2', '-j', '1', '--max-cost-usd', '5'])
    expect(run.summary).toMatchObject({ counts: { fail: 2 }, notRun: 0 })
  })
})

describe('cost', () => {
  test('is what the agent reports, summed over the run', async () => {
    using project = smallProject({ turns: [...paid(0.25), { usage: { input_tokens: 5, cost_usd: 0.5 } }] })
    const run = await gantryTest(project, ['--repeat', '2'])
    expect(run.trials.map(({ costUsd }) => costUsd)).toEqual([0.75, 0.75])
    expect(run.summary).toMatchObject({ costUsd: 1.5, unmeteredTrials: 0 })
    expect(run.trials[0]?.tokens).toMatchObject({ input: 15, output: 0 })
  })

  test('follows from tokens and the prices of gantry.yaml when the agent does not report cost', async () => {
    using project = smallProject({
      turns: [{ usage: { input_tokens: 1_000_000, output_tokens: 500_000 } }, writes('done.txt')],
      config: { models: { 'my-model': { input_usd_per_mtok: 3, output_usd_per_mtok: 10 } } },
    })
    expect(onlyTrial(await gantryTest(project, ['--model', 'my-model'])).costUsd).toBeCloseTo(8)
  })

  test('stays unknown, and is never 0, without a source', async () => {
    using project = smallProject()
    const run = await gantryTest(project)
    expect(onlyTrial(run).costUsd).toBeNull()
    expect(run.summary).toMatchObject({ costUsd: null, unmeteredTrials: 1 })
  })
})
