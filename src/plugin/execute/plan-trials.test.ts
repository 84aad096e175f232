import { expect, test } from 'vitest'
import { demoComponents } from '../../../test/support/demo-plugin.ts'
import { scenarioOf } from '../../../test/support/execute-lab.ts'
import { isSafeName } from '../../store/run-paths.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { pathSegment, plannedPluginTrials, planTrials } from './plan-trials.ts'

const skill = { component_type: 'skill', component_ref: 'greet' } as const
const config = pluginConfigSchema.parse({ execution: { num_reps: 2 } })

test('every scenario runs in every arm with the configured repetitions, a case with its own', () => {
  const own = scenarioOf('own', 'p', skill, { case: { dir: '/', graders: [], runs: 3 } })
  const trials = planTrials([scenarioOf('one', 'p', skill), own], config, ['without', 'alone'])
  const blocks = Array.from({ length: 5 }, (_, index) => trials.slice(2 * index, 2 * index + 2))
  expect(blocks.map((block) => block.map(({ id }) => id).sort())).toEqual([
    ['one.alone-1', 'one.without-1'],
    ['own.alone-1', 'own.without-1'],
    ['one.alone-2', 'one.without-2'],
    ['own.alone-2', 'own.without-2'],
    ['own.alone-3', 'own.without-3'],
  ])
})

test('the seed draws the order of the arms of each scenario', () => {
  const many = Array.from({ length: 20 }, (_, index) => scenarioOf(`s${index}`, 'p', skill))
  const first = (seed: number) =>
    planTrials(many, pluginConfigSchema.parse({ execution: { seed } }), ['without', 'alone'])
      .filter((_, index) => index % 2 === 0)
      .map(({ arm }) => arm)
  expect(first(1)).toEqual(first(1))
  expect(first(1)).not.toEqual(first(2))
  expect(new Set(first(1)).size).toBe(2)
})

test('a case also runs without the plugin, unless the arms are chosen', () => {
  const own = scenarioOf('own', 'p', skill, { case: { dir: '/', graders: [], runs: 1 } })
  const ids = (execution: object, arms: readonly Arm[]) =>
    planTrials(
      [scenarioOf('one', 'p', skill), own],
      pluginConfigSchema.parse({ execution: { num_reps: 1, ...execution } }),
      arms,
    ).map(({ id }) => id)
  expect(ids({}, ['alone']).sort()).toEqual(['one.alone-1', 'own.alone-1', 'own.without-1'])
  expect(ids({ arms: ['alone'] }, ['alone'])).toEqual(['one.alone-1', 'own.alone-1'])
})

test('a trial id is a unique file name', () => {
  const names = ['plain', '.hidden', '-dash', 'a/b', 'a b', 'x'.repeat(300), `${'x'.repeat(299)}y`, 'ü', '..']
  const ids = planTrials(
    names.map((name) => scenarioOf(name, 'p', skill)),
    pluginConfigSchema.parse({}),
    ['alone'],
  ).map(({ id }) => id)
  expect(ids.filter((id) => !isSafeName(id))).toEqual([])
  expect(new Set(ids).size).toBe(names.length)
  expect(pathSegment('plain')).toBe('plain')
})

const plugin = { plugin_name: 'demo', plugin_path: '/plugins/demo', components: demoComponents }
const facts = { dir: '/case', graders: [] }

function groups(scenarios: readonly PluginScenario[], arms: readonly Arm[], execution: object = {}) {
  const config = pluginConfigSchema.parse({ execution })
  const chosen = { execution: { ...config.execution, arms: [...arms] } }
  const context = { config, plugin, crowd: ['/plugins/b', '/plugins/a'] }
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const trials = planTrials(scenarios, chosen, arms).flatMap((trial) => {
    const scenario = byId.get(trial.scenario_id)
    return scenario === undefined ? [] : [{ trial, scenario }]
  })
  const planned = plannedPluginTrials(context, trials)
  expect(planned.map(({ title }) => title)).toEqual(planned.map(({ spec }) => spec.scenario.id))
  return [...Map.groupBy(planned, ({ group }) => group).values()].map((of) => ({
    trials: of.map(({ id }) => id),
    settings: of[0]?.spec.settings,
  }))
}
const ids = (all: ReturnType<typeof groups>) => all.map(({ trials }) => trials)

test('scenarios of one component share a process per arm, and each arm has its own plugins', () => {
  const all = groups(
    [scenarioOf('one', 'p', skill), scenarioOf('two', 'p', skill)],
    ['without', 'alone', 'crowd'],
  )
  expect(Object.fromEntries(all.map(({ trials, settings }) => [String(trials), settings?.plugins]))).toEqual({
    'one.without-1,two.without-1': [],
    'one.alone-1,two.alone-1': ['/plugins/demo'],
    'one.crowd-1,two.crowd-1': ['/plugins/demo', '/plugins/a', '/plugins/b'],
  })
})

test('different process settings split a group, a different order of them does not', () => {
  const one = { ...facts, allowed_tools: ['A', 'B'], env: { EVAL_A: '1', EVAL_B: '2' } }
  const other = { ...facts, allowed_tools: ['B', 'A'], env: { EVAL_B: '2', EVAL_A: '1' } }
  const all = groups(
    [
      scenarioOf('one', 'p', skill, { case: one }),
      scenarioOf('two', 'p', skill, { case: other }),
      scenarioOf('three', 'p', skill, { case: { ...one, env: { EVAL_A: '2' } } }),
      scenarioOf('four', 'p', skill, { case: { ...one, model: 'opus' } }),
      scenarioOf('five', 'p', skill, { case: { ...one, plugins: ['/plugins/more'] } }),
      scenarioOf('six', 'p', skill, { case: { ...one, max_turns: 1, timeout_ms: 1 } }),
    ],
    ['alone'],
  )
  expect(ids(all)).toEqual([
    ['one.alone-1', 'two.alone-1', 'six.alone-1'],
    ['three.alone-1'],
    ['four.alone-1'],
    ['five.alone-1'],
  ])
})

test('isolated scenarios share nothing, and the component with most trials comes first', () => {
  const scenarios = [
    scenarioOf('a', 'p', { component_type: 'agent', component_ref: 'reviewer' }),
    scenarioOf('b', 'p', skill),
    scenarioOf('c', 'p', skill),
  ]
  expect(ids(groups(scenarios, ['alone']))).toEqual([['b.alone-1', 'c.alone-1'], ['a.alone-1']])
  expect(ids(groups(scenarios, ['alone'], { session_strategy: 'isolated' }))).toHaveLength(3)
})

test('a scenario gets the tools it needs even if disallowed, and those that make components fire', () => {
  const [first, second] = groups(
    [scenarioOf('one', 'p', skill, { needs_tools: ['Write'] }), scenarioOf('two', 'p', skill)],
    ['alone'],
  )
  expect(first?.settings?.disallowedTools).toEqual(['Edit', 'Bash'])
  expect(first?.settings?.allowedTools).toContain('Write')
  expect(second?.settings?.disallowedTools).toEqual(['Write', 'Edit', 'Bash'])
  expect(second?.settings?.allowedTools).toEqual([
    'Skill',
    'SlashCommand',
    'Task',
    'Agent',
    'Read',
    'Glob',
    'Grep',
  ])
})

test('the model of the evaluation overrides that of a case, and the default does not', () => {
  const scenarios = [scenarioOf('one', 'p', skill, { case: { ...facts, model: 'haiku' } })]
  expect(groups(scenarios, ['alone'])[0]?.settings?.model).toBe('haiku')
  expect(groups(scenarios, ['alone'], { model: 'opus' })[0]?.settings?.model).toBe('opus')
})
