import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  sampleAgent,
  sampleAnalysis,
  sampleCommand,
  sampleSkill,
} from '../../../test/support/sample-analysis.ts'
import type { PluginScenario } from './contract.ts'
import { mergeScenarios } from './merge-scenarios.ts'

const analysis = sampleAnalysis({
  skills: [sampleSkill('greet'), sampleSkill('review')],
  agents: [sampleAgent('reviewer')],
  commands: [sampleCommand('deploy/staging')],
})

const scenario = (id: string, more: Partial<PluginScenario> = {}): PluginScenario => ({
  id,
  component_ref: 'greet',
  expected_component: 'greet',
  component_type: 'skill',
  scenario_type: 'direct',
  user_prompt: `prompt of ${id}`,
  expected_trigger: true,
  origin: 'model',
  ...more,
})

const merge = (handWritten: readonly PluginScenario[], generated: readonly PluginScenario[]) =>
  mergeScenarios(analysis, { handWritten, generated })

test('a hand-written scenario replaces a generated one with the same id', () => {
  const mine = scenario('Greet-direct-1', { origin: 'file', user_prompt: 'mine' })
  const merged = merge([mine], [scenario('greet-direct-1'), scenario('greet-direct-2')])
  expect(merged.scenarios).toEqual([mine, scenario('greet-direct-2')])
  expect(merged.replaced).toEqual(['greet-direct-1'])
})

test('the same text for the same component is dropped and counted, unless component or setup differ', () => {
  const said = { user_prompt: 'Say hello!' }
  const generated = [
    scenario('a', { user_prompt: 'say  HELLO' }),
    scenario('b', { ...said, component_ref: 'review', expected_component: 'review' }),
    scenario('c', { ...said, setup_messages: [{ role: 'user', content: 'before' }] }),
    scenario('d', { user_prompt: 'other' }),
    scenario('e', { user_prompt: 'Other?' }),
    scenario('f', { user_prompt: '/demo:deploy' }),
    scenario('g', { user_prompt: '/demo deploy' }),
  ]
  const merged = merge([scenario('mine', said)], generated)
  expect(merged.scenarios.map(({ id }) => id)).toEqual(['mine', 'b', 'c', 'd', 'f', 'g'])
  expect(merged.duplicates).toEqual(['a', 'e'])
})

test('a component may be written with its CLI name', () => {
  for (const component_ref of ['deploy/staging', 'demo:deploy:staging', '/demo:deploy:staging'])
    expect(() =>
      merge(
        [scenario('x', { component_ref, expected_component: component_ref, component_type: 'command' })],
        [],
      ),
    ).not.toThrow()
  expect(() => merge([scenario('x', { component_ref: '', expected_component: '' })], [])).not.toThrow()
})

test.each([
  ['skill', 'gret', "Did you mean 'greet'?"],
  ['skill', 'reviewer', 'There is the agent reviewer: change component_type.'],
  ['skill', 'zebra', 'It has: greet, review.'],
  ['hook', 'zebra', 'The plugin has no component of type hook.'],
] as const)('a %s called %s is unknown: %s', (component_type, component_ref, hint) => {
  const wrong = scenario('x', { component_ref, expected_component: component_ref, component_type })
  expect(() => merge([wrong], [])).toThrow(
    expect.objectContaining({
      code: 'INVALID_FILE',
      message: expect.stringContaining(`the scenario 'x' is about the ${component_type} ${component_ref}`),
      hint,
    }),
  )
})

test('the expected component must exist too', () => {
  expect(() => merge([scenario('x', { expected_component: 'nobody' })], [])).toThrow(/nobody/)
})

test('two hand-written scenarios with the same id are an error', () => {
  expect(() => merge([scenario('x'), scenario('X')], [])).toThrow(
    expect.objectContaining({ code: 'INVALID_FILE' }),
  )
})

test('hand-written scenarios stay unchanged and first, and ids stay unique', () => {
  const id = fc.constantFrom('a', 'B', 'c', 'd', 'e')
  const some = fc.uniqueArray(fc.tuple(id, fc.constantFrom('one', 'two', 'three')), {
    selector: ([key]) => key,
  })
  fc.assert(
    fc.property(some, some, (mine, others) => {
      const handWritten = mine.map(([key, user_prompt]) => scenario(key, { user_prompt, origin: 'file' }))
      const generated = others.map(([key, user_prompt]) => scenario(key.toLowerCase(), { user_prompt }))
      const { scenarios, replaced, duplicates } = merge(handWritten, generated)
      expect(scenarios.slice(0, handWritten.length)).toEqual(handWritten)
      expect(new Set(scenarios.map((one) => one.id.toLowerCase())).size).toBe(scenarios.length)
      expect(scenarios.length + replaced.length + duplicates.length).toBe(
        handWritten.length + generated.length,
      )
    }),
  )
})
