import { expect, test } from 'vitest'
import { sampleAgent, sampleAnalysis, sampleSkill } from '../../../test/support/sample-analysis.ts'
import { readModelScenario } from './answer-schema.ts'
import { type ModelWritten, neighboursOf } from './component-prompt.ts'
import { checkModelScenario, fillSlots, isNearDuplicate, namesComponent } from './fill-slots.ts'
import { planSlots } from './plan-slots.ts'

const skill: ModelWritten = { type: 'skill', component: sampleSkill('code-review') }
const agent: ModelWritten = { type: 'agent', component: sampleAgent('reviewer') }
const open = planSlots({ componentType: 'skill', total: 20, diversity: 1, semantic: true, hasRival: false })
const agentSlots = planSlots({
  componentType: 'agent',
  total: 5,
  diversity: 1,
  semantic: true,
  hasRival: false,
})

const check = (raw: Record<string, unknown>, entry: ModelWritten = skill) =>
  checkModelScenario(readModelScenario(raw), {
    entry,
    neighbours: [],
    open: entry.type === 'skill' ? open : agentSlots,
  })

const fits = (raw: Record<string, unknown>, entry: ModelWritten = skill) => {
  const checked = check(raw, entry)
  if (checked.kind === 'dropped') throw new Error(checked.reason)
  return checked.draft
}

const good = {
  slot: 's1',
  base_id: 'b1',
  scenario_type: 'direct',
  user_prompt: 'Greet a colleague for me, she is called Ada.',
  expected_trigger: true,
}
const slotOf = (type: string) => {
  const slot = open.find((one) => one.type === type)
  return { slot: slot?.id, base_id: slot?.base, scenario_type: type, expected_trigger: type !== 'negative' }
}

test('a scenario that fits its slot is unchanged', () => {
  expect(fits({ ...good, reasoning: 'because' })).toMatchObject({
    slot: { id: 's1', type: 'direct' },
    prompt: good.user_prompt,
    reasoning: 'because',
    repairs: [],
  })
})

test.each([
  ['empty_prompt', { user_prompt: '  ' }],
  ['empty_prompt', { user_prompt: 7 }],
  ['empty_prompt', { user_prompt: undefined }],
  ['prompt_too_long', { user_prompt: 'x'.repeat(9_000) }],
  ['wrong_component', { component_ref: 'deployment' }],
  ['wrong_component', { expected_component: 'other:thing' }],
  ['unknown_type', { scenario_type: 'funny' }],
  ['unknown_type', { scenario_type: undefined, slot: 's99' }],
  ['no_open_slot', { scenario_type: 'proactive' }],
  ['wrong_base', { base_id: 'b99' }],
  ['contradicts_type', { expected_trigger: false }],
  ['slash_command', { user_prompt: '/code-review now' }],
] as const)('%s: %j', (reason, change) => {
  expect(check({ ...good, ...change })).toEqual({ kind: 'dropped', reason })
})

test.each([
  ['names_component', 'paraphrased', 'Run the code-review on my branch'],
  ['names_component', 'negative', 'Do not use demo:code-review here'],
  ['uses_trigger_phrase', 'paraphrased', 'Could you please SAY  hello, to Ada?'],
  ['uses_trigger_phrase', 'semantic', 'I want to greet a colleague'],
])('%s: a scenario of type %s must not say %j', (reason, type, user_prompt) => {
  expect(check({ ...slotOf(type), user_prompt })).toEqual({ kind: 'dropped', reason })
})

test('a direct scenario may use the phrases and the name', () => {
  expect(fits({ ...good, user_prompt: 'Use the code-review skill to say hello' }).repairs).toEqual([])
})

test('repairs that keep the meaning are made and recorded', () => {
  const { user_prompt } = good
  expect(fits({ user_prompt, scenario_type: 'Direct' })).toMatchObject({
    slot: { id: 's1' },
    repairs: ['base_id was missing', 'expected_trigger was missing'],
  })
  expect(fits({ ...good, component_ref: 'code_review' }).repairs).toEqual([])
  expect(fits({ ...good, component_ref: 'demo:code-review' }).repairs).toEqual([])
  expect(fits({ ...good, component_ref: 'code-reviews' }).repairs).toEqual([
    'the name of the component was misspelt',
  ])
  expect(fits({ ...good, slot: 's77' }).repairs).toEqual(['it was meant for slot s77'])
  expect(fits({ ...good, setup_messages: [{ role: 'user', content: 'before' }] })).toMatchObject({
    repairs: ['setup messages were left out'],
  })
  expect(fits({ ...good, setup_messages: [{ role: 'user', content: 'x' }] })).not.toHaveProperty('setup')
})

test('a scenario of another type fills a slot of that type', () => {
  const draft = fits({ slot: 's1', scenario_type: 'edge-case', user_prompt: 'hm', expected_trigger: true })
  expect(draft.slot.type).toBe('edge_case')
})

test('a semantic scenario keeps its phrase, if there is one, and its kind of variation', () => {
  const said = { ...slotOf('semantic'), user_prompt: 'wave at someone from work' }
  expect(
    fits({ ...said, original_trigger_phrase: 'Say hello!', semantic_variation_type: 'synonym' }),
  ).toMatchObject({ phrase: 'say hello', variation: 'synonym', repairs: [] })
  expect(fits({ ...said, original_trigger_phrase: 'launch rockets' })).toMatchObject({
    variation: 'synonym',
    repairs: [
      'semantic_variation_type was not the one of the slot',
      'original_trigger_phrase was none of the phrases',
    ],
  })
})

test('a proactive scenario needs a conversation that begins with the person', () => {
  const said = { scenario_type: 'proactive', user_prompt: 'That is done. What now?', expected_trigger: true }
  const before = [
    { role: 'user', content: 'Write the login.' },
    { role: 'assistant', content: 'Written.' },
  ]
  expect(fits({ ...said, setup_messages: before }, agent).setup).toEqual(before)
  expect(fits({ ...said, setup_context: 'I have just written the login.' }, agent).setup).toEqual([
    { role: 'user', content: 'I have just written the login.' },
  ])
  for (const setup_messages of [
    undefined,
    [],
    [{ role: 'assistant', content: 'x' }],
    [{ role: 'user', content: ' ' }],
    'x',
  ])
    expect(check({ ...said, setup_messages }, agent)).toEqual({
      kind: 'dropped',
      reason: 'no_setup_messages',
    })
})

test('a near miss aimed at a neighbour names the neighbour', () => {
  const analysis = sampleAnalysis({ skills: [sampleSkill('code-review'), sampleSkill('lint')] }, [
    {
      code: 'OVERLAPPING_DESCRIPTIONS',
      severity: 'warning',
      message: '',
      suggestion: '',
      components: ['skill:code-review', 'skill:lint'],
    },
  ])
  const neighbours = neighboursOf(analysis, skill)
  expect(neighbours).toMatchObject([{ key: 'n1', isRival: true, entry: { component: { name: 'lint' } } }])
  const slots = planSlots({ componentType: 'skill', total: 5, diversity: 1, semantic: false, hasRival: true })
  const aimed = (neighbour: string) =>
    checkModelScenario(
      readModelScenario({
        scenario_type: 'negative',
        base_id: 'b5',
        user_prompt: 'Sort my imports',
        expected_trigger: false,
        neighbour,
      }),
      { entry: skill, neighbours, open: slots },
    )
  expect(aimed('n1')).toMatchObject({
    draft: { slot: { negative: 'neighbour' }, tags: ['idea-b5', 'near-miss', 'neighbour:lint'], repairs: [] },
  })
  expect(aimed('n7')).toMatchObject({
    draft: { tags: ['idea-b5', 'near-miss'], repairs: ['the neighbour was missing'] },
  })
})

test.each([
  ['review', 'Please review my code', false],
  ['review', 'use the review skill', true],
  ['review', 'the skill called "review" would help', true],
  ['review', 'run `review` on it', true],
  ['review', 'call demo:review', true],
  ['review', 'try /review', true],
  ['review', 'the preview skill is nice', false],
  ['review', 'look at src/review.ts', false],
  ['code-review', 'a Code-Review would be good', true],
  ['code-review', 'a code review would be good', false],
  ['c++', 'use the c++ skill', true],
  ['c++', 'a c file', false],
])('a skill called %s is named by %j: %s', (name, message, expected) => {
  expect(namesComponent(message, { type: 'skill', component: sampleSkill(name) })).toBe(expected)
})

test('an agent is named by its mention', () => {
  expect(namesComponent('ask @agent-reviewer', agent)).toBe(true)
  expect(namesComponent('ask the reviewer subagent', agent)).toBe(true)
  expect(namesComponent('ask a reviewer', agent)).toBe(false)
})

test.each([
  ['Please review my code', 'review my code, please!', true],
  ['Fix the login bug', 'Fix the login bug.', true],
  ['Fix the login bug in auth.ts', 'Fix the login bugs in auth.ts', true],
  ['Greet Bob', 'Greet Alice', false],
  ['请检查我的代码', '请检查我的代码。', true],
  ['请检查我的代码', '帮我写一个测试', false],
  ['', '?!', true],
])('%j and %j are nearly the same: %s', (a, b, expected) => {
  expect(isNearDuplicate({ prompt: a, base: 'b1' }, { prompt: b, base: 'b2' })).toBe(expected)
})

test('variations of one idea may be closer to each other than two ideas', () => {
  const a = 'Convert the invoice from June to a spreadsheet for the accountant'
  const b = 'Convert the invoice from July to a spreadsheet for the accountants'
  expect(isNearDuplicate({ prompt: a, base: 'b1' }, { prompt: b, base: 'b2' })).toBe(true)
  expect(isNearDuplicate({ prompt: a, base: 'b1' }, { prompt: b, base: 'b1' })).toBe(false)
})

test('a slot is filled once, and near duplicates are dropped', () => {
  const filled = fillSlots(
    [
      good,
      { ...good, slot: 's2', base_id: 'b2', user_prompt: 'greet a colleague for me: she is called ADA' },
      { ...good, slot: 's1', base_id: undefined, user_prompt: 'Welcome the new hire from the Lisbon office' },
      { ...good, slot: undefined, user_prompt: 'One too many', base_id: 'b1' },
    ],
    { entry: skill, neighbours: [], open: open.slice(0, 2) },
    [],
  )
  expect(filled.drafts.map(({ slot, prompt }) => [slot.id, prompt])).toEqual([
    ['s1', good.user_prompt],
    ['s2', 'Welcome the new hire from the Lisbon office'],
  ])
  expect(filled.dropped.map(({ reason }) => reason)).toEqual(['near_duplicate', 'no_open_slot'])
})
