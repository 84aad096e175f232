import { expect, test } from 'vitest'
import { reconcilePlan } from './reconcile-plan.ts'

const plan = '# Plan\n\n- [x] done before\n- [ ] at hand\n  - a detail\n- [ ] later\n'

test('an agent that leaves the plan alone changes nothing', () => {
  expect(reconcilePlan(plan, plan, 'at hand')).toEqual({ text: plan, ticked: false, others: [], missing: [] })
})

test('the box of the task at hand is open whatever the agent did, and it is known that it ticked it', () => {
  const after = plan.replace('[ ] at hand', '[x] at hand')
  expect(reconcilePlan(plan, after, 'at hand')).toMatchObject({ text: plan, ticked: true, others: [] })
})

test('other boxes are as before, ticked and opened ones alike', () => {
  const after = plan.replace('[x] done before', '[ ] done before').replace('[ ] later', '[X] later')
  const { text, others } = reconcilePlan(plan, after, 'at hand')
  expect(text).toBe(plan)
  expect(others).toEqual(['done before', 'later'])
})

test('notes stay, new tasks stay open', () => {
  const after = `${plan}- [x] new one\n  - found on the way\n\nA note.\n`
  const { text, others } = reconcilePlan(plan, after, 'at hand')
  expect(text).toBe(`${plan}- [ ] new one\n  - found on the way\n\nA note.\n`)
  expect(others).toEqual(['new one'])
})

test.each([
  ['a task that is gone', plan.replace('- [ ] later\n', '')],
  ['a title that was changed', plan.replace('later', 'never')],
  ['a task that became a detail', plan.replace('- [ ] later', '  - [ ] later')],
  ['tasks in a code fence', plan.replace('- [ ] later\n', '```\n- [ ] later\n```\n')],
  ['tasks in a comment', plan.replace('- [ ] later\n', '<!--\n- [ ] later\n-->\n')],
  ['a plan that is empty', ''],
  ['a plan that is gone', null],
])('%s makes the whole plan what it was', (_, after) => {
  const { text, missing } = reconcilePlan(plan, after, 'at hand')
  expect(text).toBe(plan)
  expect(missing).toContain('later')
})

test('tasks of the same title are told apart by their order', () => {
  const twins = '- [ ] same\n- [ ] same\n'
  expect(reconcilePlan(twins, '- [x] same\n- [x] same\n', 'same (2)')).toMatchObject({
    text: twins,
    ticked: true,
    others: ['same'],
  })
  expect(reconcilePlan(twins, '- [ ] same\n', 'same').missing).toEqual(['same'])
})
