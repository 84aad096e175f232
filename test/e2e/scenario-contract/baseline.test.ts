import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, type RunDocument } from '../support/gantry.ts'
import { agentScript, smallProject, type TestProject, writes } from '../support/project.ts'

const composite = { judge_weight: 0, gate_weight: 1, interaction_weight: 0 }
const tenGates = Array.from({ length: 10 }, (_, index) => ({ type: 'file_exists', path: `f${index}` }))
const touching = (count: number, cost_usd: number) =>
  agentScript([
    { run: `touch ${Array.from({ length: count }, (_, index) => `f${index}`).join(' ')}` },
    { usage: { input_tokens: 1, cost_usd } },
  ])

function project(): TestProject {
  return smallProject({
    scenario: { evaluation: { gates: tenGates, composite } },
    files: { 'agents/worker.yaml': touching(10, 1) },
  })
}

async function regressions(
  before: [number, number],
  now: [number, number],
): Promise<RunDocument['summary']['regressions']> {
  using compared = project()
  compared.write({ 'agents/worker.yaml': touching(...before) })
  const { run_id } = await gantryTest(compared)
  compared.write({ 'agents/worker.yaml': touching(...now) })
  return (await gantryTest(compared, ['--baseline', run_id])).summary.regressions
}

describe('--baseline', () => {
  test('alerts about a gate that passed before and fails now', async () => {
    const found = await regressions([10, 1], [9, 1])
    expect(found).toMatchObject([{ kind: 'gate', severity: 'alert', case: 'case', agent: 'worker' }])
    expect(found[0]?.message).toContain('gate 10 (file_exists)')
  })

  test('warns when the score drops by more than 15%, and not at 15%', async () => {
    const kinds = (found: RunDocument['summary']['regressions']) => found.map(({ kind }) => kind)
    expect(kinds(await regressions([10, 1], [8, 1]))).toContain('score')
    expect(kinds(await regressions([10, 1], [9, 1]))).not.toContain('score')
  })

  test('warns when the cost rises by more than 50%, and not at 50%', async () => {
    expect(await regressions([10, 1], [10, 1.6])).toMatchObject([{ kind: 'cost', severity: 'warning' }])
    expect(await regressions([10, 1], [10, 1.5])).toEqual([])
  })

  test('says nothing when nothing became worse', async () => {
    expect(await regressions([9, 2], [10, 1])).toEqual([])
  })

  test('takes `latest` and `blessed`, and shows what it found on the console', async () => {
    using compared = project()
    const { run_id } = await gantryTest(compared)
    await gantry(compared, ['runs', 'bless', run_id])
    compared.write({ 'agents/worker.yaml': touching(5, 1) })
    await gantryTest(compared)
    const against = async (name: string) =>
      (await gantry(compared, ['test', '--no-cache', '--baseline', name])).stdout
    expect(await against('blessed')).toContain('gate 10 (file_exists) passed 1 of 1 times before')
    expect(await against('latest')).not.toContain('passed 1 of 1 times before')
  })

  test('of another agent is refused, because nothing could be compared, and of some cases says which', async () => {
    using compared = smallProject({
      config: {
        agents: {
          worker: { driver: 'scripted', script: 'agents/worker.yaml' },
          other: { driver: 'scripted', script: 'agents/worker.yaml' },
        },
      },
    })
    const { run_id } = await gantryTest(compared, ['--agent', 'worker'])
    const { code, stderr } = await gantry(compared, ['test', '--agent', 'other', '--baseline', run_id])
    expect(stderr).toContain(`${run_id} has no case, agent and model of this run`)
    expect(code).toBe(2)
    const both = await gantryTest(compared, ['--agent', 'worker,other', '--baseline', run_id])
    expect(both.summary.baseline).toEqual({
      runId: run_id,
      compared: 1,
      missing: [{ case: 'case', agent: 'other', model: 'default' }],
    })
  })

  test('that is not there is an error before anything runs', async () => {
    using compared = project()
    const { code, stderr } = await gantry(compared, ['test', '--baseline', 'blessed'])
    expect(code).toBe(2)
    expect(stderr).toContain('bless')
  })

  test('lets the run refer to it, so that retention keeps it', async () => {
    using compared = smallProject({ turns: [writes('done.txt')] })
    const { run_id } = await gantryTest(compared)
    const { run_dir } = await gantryTest(compared, ['--no-cache', '--baseline', run_id])
    const manifest: unknown = JSON.parse(readFileSync(`${run_dir}/manifest.json`, 'utf8'))
    expect(manifest).toMatchObject({ refers_to: [run_id] })
  })
})
