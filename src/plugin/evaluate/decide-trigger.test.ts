import { expect, test } from 'vitest'
import {
  called,
  executionOf,
  noComponents,
  scenarioOf,
  skillOf,
  transcriptOf,
} from '../../../test/support/plugin-trial.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import { type AmbiguityInput, needsJudge } from './decide-trigger.ts'
import { knownComponents } from './detection/known-components.ts'

const first = pluginConfigSchema.parse({})
const only = pluginConfigSchema.parse({ evaluation: { detection_mode: 'llm_only' } })
const known = knownComponents({
  plugin_name: 'demo',
  components: { ...noComponents, skills: [skillOf('greet')] },
})
const input = (change: Partial<AmbiguityInput> = {}): AmbiguityInput => ({
  scenario: scenarioOf(),
  execution: executionOf(),
  transcript: transcriptOf(),
  detections: [],
  known,
  ...change,
})

test('clear traces need no judge, unless only the judge decides', () => {
  expect(needsJudge(input(), first)).toBe(false)
  expect(needsJudge(input(), only)).toBe(true)
})

test('unclear traces need a judge', () => {
  const uncaptured = input({ transcript: transcriptOf([called('evt_1', 'Skill', { skill: 'demo:greet' })]) })
  expect(needsJudge(uncaptured, first)).toBe(true)
})

test.each([
  [
    'a trial that failed for infrastructure reasons',
    { execution: executionOf({ failure: { reason: 'auth', message: 'x' } }) },
  ],
  ['a broken case', { execution: executionOf({ invalid: 'x' }) }],
  [
    'the arm without the plugin',
    { execution: executionOf({ trial: { id: 't', scenario_id: 's', arm: 'without', rep: 1 } }) },
  ],
  [
    'a case that only graders decide',
    { scenario: scenarioOf({ component_ref: '', expected_component: '' }) },
  ],
  [
    'a component that does not exist',
    { scenario: scenarioOf({ expected_component: 'gone', component_ref: 'gone' }) },
  ],
  ['a trial without a transcript', { transcript: null }],
])('%s needs no judge', (_, change) => {
  expect(needsJudge(input(change), only)).toBe(false)
  expect(needsJudge(input(change), first)).toBe(false)
})
