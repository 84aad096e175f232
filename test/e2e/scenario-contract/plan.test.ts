import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest } from '../support/gantry.ts'
import { smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

interface Plan {
  readonly plan: Record<string, unknown> & { readonly groups: readonly Record<string, unknown>[] }
  readonly trials: readonly { readonly id: string; readonly case: string }[]
}

async function plan(project: TestProject, argv: string[] = []): Promise<Plan> {
  const { stdout, code } = await gantry(project, ['test', '--plan', '--json', ...argv])
  expect(code).toBe(0)
  return JSON.parse(stdout) as Plan
}

const paid = [{ usage: { input_tokens: 1, cost_usd: 0.5 } }, writes('done.txt')]

describe('--plan', () => {
  test('shows trials, prompt sizes, cost, time and precision, and runs nothing', async () => {
    using project = smallProject({ files: { 'scenarios/more.yaml': smallScenario({ name: 'more' }) } })
    const { code, stdout } = await gantry(project, ['test', '--plan', '--repeat', '3'])
    expect(code).toBe(0)
    expect(stdout).toContain('6 trials of 2 scenarios would run')
    expect(stdout).toMatch(/scenario +agent +model +trials +cached +prompt tokens +cost +time\n/)
    expect(stdout).toMatch(/case +worker +default +3 +0 +\d+ +unknown +unknown\n/)
    expect(stdout).toMatch(/total +6 +0 +\d+ +unknown +unknown\n/)
    expect(stdout).toMatch(/cache +0 of 6/)
    expect(stdout).toMatch(/cost +unknown: no earlier run/)
    expect(stdout).toMatch(/time +unknown: no earlier run/)
    expect(stdout).toMatch(/precision +±\d+ points/)
  })

  test('writes nothing at all: no store, no workspace, no record', async () => {
    using project = smallProject()
    await gantry(project, ['test', '--plan'])
    await gantry(project, ['test', '--dry-run'])
    expect(existsSync(project.store)).toBe(false)
    expect(readdirSync(project.home)).toEqual([])
    expect(existsSync(project.path('fixtures/template/done.txt'))).toBe(false)
  })

  test('learns cost and time from earlier runs, and leaves out what the cache answers', async () => {
    using project = smallProject({ turns: paid })
    await gantryTest(project, ['--repeat', '2'])
    const { plan: estimate } = await plan(project, ['--repeat', '5'])
    expect(estimate).toMatchObject({ trials: 5, cases: 1, cacheHits: 2, costUsd: 1.5, withoutHistory: 0 })
    expect(estimate.durationMs).toBeTypeOf('number')
    expect(estimate.groups).toMatchObject([{ case: 'case', agent: 'worker', trials: 5, cacheHits: 2 }])
    expect((await plan(project, ['--repeat', '5', '--no-cache'])).plan).toMatchObject({
      cacheHits: 0,
      costUsd: 2.5,
    })
  })

  test('warns when the estimate is above the budget', async () => {
    using project = smallProject({ turns: paid })
    await gantryTest(project)
    const { stdout } = await gantry(project, ['test', '--plan', '--repeat', '9', '--max-cost-usd', '1'])
    expect(stdout).toContain('above --max-cost-usd 1')
  })

  test('counts the trials of a shard only, and lists them', async () => {
    using project = smallProject({ files: { 'scenarios/more.yaml': smallScenario({ name: 'more' }) } })
    const { trials, plan: estimate } = await plan(project, ['--repeat', '2', '--shard', '2/2'])
    expect(trials.map((trial) => trial.case)).toEqual(['more', 'more'])
    expect(estimate.trials).toBe(2)
  })

  test('promises more precision for more trials', async () => {
    using project = smallProject()
    const widthAt = async (repeat: string): Promise<number> => {
      const { precision } = (await plan(project, ['--repeat', repeat])).plan
      return (precision as { halfWidth: number }).halfWidth
    }
    expect(await widthAt('20')).toBeLessThan(await widthAt('2'))
  })

  test('still refuses what could not run', async () => {
    using project = smallProject({ scenario: { template_folder: 'missing' } })
    expect((await gantry(project, ['test', '--plan'])).code).toBe(2)
  })
})
