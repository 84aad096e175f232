import { expect, test } from 'vitest'
import { sampleAgent, sampleAnalysis, sampleSkill } from '../../../test/support/sample-analysis.ts'
import { neighboursOf } from './component-prompt.ts'
import { fallbackScenarios } from './fallback-scenarios.ts'

const skill = (more = {}) => ({ type: 'skill' as const, component: sampleSkill('greet', more) })

test('every phrase is a direct scenario, and one request is unrelated', () => {
  const { scenarios, warnings } = fallbackScenarios(skill(), [])
  expect(
    scenarios.map(({ suffix, user_prompt, expected_trigger }) => [suffix, user_prompt, expected_trigger]),
  ).toEqual([
    ['direct-1', 'greet a colleague', true],
    ['direct-2', 'say hello', true],
    ['negative-1', 'What is the capital of Australia?', false],
  ])
  expect(scenarios.every(({ origin }) => origin === 'fallback')).toBe(true)
  expect(warnings).toEqual([])
})

test('an agent uses the messages of its examples', () => {
  const { scenarios } = fallbackScenarios({ type: 'agent', component: sampleAgent('reviewer') }, [])
  expect(scenarios.slice(0, 2).map(({ user_prompt }) => user_prompt)).toEqual([
    'Is my login safe?',
    'Look for injections in query.ts.',
  ])
  expect(scenarios[0]).not.toHaveProperty('original_trigger_phrase')
})

test('phrases are used once, commands are skipped, and a component without phrases uses its description', () => {
  const { scenarios } = fallbackScenarios(
    skill({ triggers: ['Say hello', 'say  hello!', '/greet', '…'] }),
    [],
  )
  expect(scenarios.map(({ user_prompt }) => user_prompt)).toEqual([
    'Say hello',
    'What is the capital of Australia?',
  ])
  const silent = fallbackScenarios(skill({ triggers: [], description: 'Sorts mail. It is fast.' }), [])
  expect(silent.scenarios[0]?.user_prompt).toBe('I need help with this: Sorts mail.')
  const empty = fallbackScenarios(skill({ triggers: [], description: '' }), [])
  expect(empty.scenarios[0]?.user_prompt).toBe('I need help with this: greet')
})

test('what the author does not want it for is a negative, never a positive', () => {
  const { scenarios } = fallbackScenarios(
    skill({ triggers: ['greet a colleague'], negative_triggers: ['just do it', '/now'] }),
    [],
  )
  expect(scenarios.map(({ user_prompt, expected_trigger }) => [user_prompt, expected_trigger])).toEqual([
    ['greet a colleague', true],
    ['What is the capital of Australia?', false],
    ['just do it', false],
  ])
  const agent = sampleAgent('reviewer')
  const [first, second] = agent.examples
  const examples = [first, { ...second, is_negative: true }] as typeof agent.examples
  expect(
    fallbackScenarios({ type: 'agent', component: { ...agent, examples } }, []).scenarios.map(
      ({ user_prompt, expected_trigger }) => [user_prompt, expected_trigger],
    ),
  ).toEqual([
    ['Is my login safe?', true],
    ['What is the capital of Australia?', false],
    ['Look for injections in query.ts.', false],
  ])
  const quiet = fallbackScenarios(
    skill({ triggers: [], description: 'Do NOT use it for mail. Sorts mail.' }),
    [],
  )
  expect(quiet.scenarios[0]?.user_prompt).toBe('I need help with this: Sorts mail.')
})

test('the unrelated request shares no word with the component', () => {
  const { scenarios } = fallbackScenarios(
    skill({ description: 'Knows every capital, to within minutes.' }),
    [],
  )
  expect(scenarios.at(-1)?.user_prompt).toBe('Which is heavier, a litre of water or a litre of olive oil?')
})

test('a phrase of a rival is a near miss', () => {
  const rival = sampleSkill('welcome', { triggers: ['Say hello', 'welcome a guest'] })
  const analysis = sampleAnalysis({ skills: [sampleSkill('greet'), rival] }, [
    {
      code: 'OVERLAPPING_DESCRIPTIONS',
      severity: 'warning',
      message: '',
      suggestion: '',
      components: ['skill:greet', 'skill:welcome'],
    },
  ])
  const { scenarios } = fallbackScenarios(skill(), neighboursOf(analysis, skill()))
  expect(scenarios.at(-1)).toMatchObject({
    suffix: 'negative-2',
    user_prompt: 'welcome a guest',
    expected_trigger: false,
    tags: ['near-miss', 'neighbour:welcome'],
  })
})

test('hundreds of phrases are cut, with a warning', () => {
  const triggers = Array.from({ length: 300 }, (_, at) => `phrase number ${at}`)
  const { scenarios, warnings } = fallbackScenarios(skill({ triggers }), [])
  expect(scenarios).toHaveLength(51)
  expect(warnings).toEqual(['skill greet: 250 of its 300 phrases are skipped'])
})
