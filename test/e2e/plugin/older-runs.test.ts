import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { kitchen } from './kitchen.ts'

// Runs as cc-plugin-eval leaves them in results/<plugin>/<run id>/. There is no agent and no key here: what would be paid again fails.
const id = '20250102-120000-ab3d'
const config = parse(
  readFileSync(join(import.meta.dirname, '../../corpus/cc-plugin-eval/config.yaml'), 'utf8'),
)

const scenario = (name: string, component: string, type = 'skill') => ({
  id: name,
  component_ref: component,
  component_type: type,
  scenario_type: 'direct',
  user_prompt: type === 'command' ? `/kitchen:${component} now` : `Please ${component}.`,
  expected_trigger: true,
  expected_component: component,
  reasoning: 'Uses the trigger phrase.',
})

const execution = (scenarioId: string, prompt: string, skill: string | null) => ({
  scenario_id: scenarioId,
  transcript: {
    metadata: {
      version: 'v3.0',
      plugin_name: 'kitchen',
      scenario_id: scenarioId,
      timestamp: '2025-01-02T12:00:00.000Z',
      model: 'claude-sonnet-4-5-20250929',
    },
    events: [
      { id: 'evt_1', type: 'user', edit: { message: { role: 'user', content: prompt } } },
      { id: 'evt_2', type: 'assistant', edit: { message: { role: 'assistant', content: 'Done.' } } },
      { id: 'evt_3', type: 'tool_result', tool_use_id: 'toolu_1', result: { ok: true } },
    ],
  },
  detected_tools:
    skill === null
      ? []
      : [{ name: 'Skill', input: { skill }, toolUseId: 'toolu_1', timestamp: 1735819200000, success: true }],
  cost_usd: 0.02,
  api_duration_ms: 1500,
  num_turns: 2,
  permission_denials: [],
  errors: [],
  model_usage: { 'claude-sonnet-4-5-20250929': { inputTokens: 1000, outputTokens: 50, costUSD: 0.02 } },
})

function olderRun(change: object = {}, place = `results/kitchen/${id}`): TestProject {
  return makeProject({
    ...kitchen('plugin'),
    [`${place}/state.json`]: JSON.stringify({
      run_id: id,
      plugin_name: 'kitchen',
      stage: 'execution',
      timestamp: '2025-01-02T12:00:09.000Z',
      config: { ...config, plugin: { path: './plugin' } },
      analysis: { plugin_name: 'kitchen', components: { skills: [], agents: [], commands: [] } },
      scenarios: [
        scenario('brew-tea-direct-0', 'brew-tea'),
        scenario('bake/bread direct 1', 'bake-bread'),
        scenario('set-table-basic', 'set-table', 'command'),
      ],
      executions: [
        execution('brew-tea-direct-0', 'Please brew-tea.', 'kitchen:brew-tea'),
        execution('bake/bread direct 1', 'Please bake-bread.', 'kitchen:bake-bread'),
        execution('set-table-basic', '/kitchen:set-table now', null),
      ],
      ...change,
    }),
  })
}

test('a run of cc-plugin-eval is resumed by its id, and no paid stage runs again', async () => {
  using project = olderRun()
  const resumed = await gantry(project, ['plugin', 'resume', id, '--json'])
  expect(resumed).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('3 trials of the older version used'),
  })
  const { run_id: runId, summary } = JSON.parse(resumed.stdout)
  expect(runId).toBe(id)
  expect(summary).toMatchObject({ total_scenarios: 3, accuracy: { value: 1, n: 3 } })
  expect(summary.costs.execution_cost_usd).toBeCloseTo(0.06)
  expect(existsSync(join(project.store, 'runs', id, 'state.older.json'))).toBe(true)
  expect(await gantry(project, ['plugin', 'report', id])).toMatchObject({ code: 0 })
  expect((await gantry(project, ['plugin', 'list'])).stdout).toContain(id)
})

test('a state without executions keeps the scenarios that were paid for', async () => {
  using project = olderRun({ stage: 'generation', executions: undefined })
  const { code, stderr } = await gantry(project, ['plugin', 'resume', id])
  expect(code).not.toBe(0)
  expect(stderr).not.toContain('generat')
  const kept = JSON.parse(readFileSync(join(project.store, 'runs', id, 'scenarios.json'), 'utf8'))
  expect(kept.scenarios.map(({ component_ref }: { component_ref: string }) => component_ref)).toEqual([
    'brew-tea',
    'bake-bread',
    'set-table',
  ])
})

test('the latest run of a plugin is found in results/ when the store has none', async () => {
  using project = olderRun()
  expect(await gantry(project, ['plugin', 'resume', '-p', 'kitchen'])).toMatchObject({ code: 0 })
})

test('resume: of config.yaml, and a run that was copied into the store, work too', async () => {
  using project = olderRun({ stage: 'complete', evaluations: [] })
  project.write({ 'config.yaml': { ...config, plugin: { path: './plugin' }, resume: { run_id: id } } })
  expect(await gantry(project, ['plugin', 'run'])).toMatchObject({ code: 0 })
  using copied = olderRun({}, `../store/runs/${id}`)
  expect(await gantry(copied, ['plugin', 'evaluate', id])).toMatchObject({ code: 0 })
})

test('a run whose plugin is gone is refused with its path, and can be read when the plugin is back', async () => {
  using project = olderRun()
  const text = project.read(`results/kitchen/${id}/state.json`)
  project.write({ [`results/kitchen/${id}/state.json`]: text.replace('./plugin', './gone') })
  expect(await gantry(project, ['plugin', 'resume', id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('gone'),
  })
  project.write({ [`results/kitchen/${id}/state.json`]: text })
  expect(await gantry(project, ['plugin', 'resume', id])).toMatchObject({ code: 0 })
})
