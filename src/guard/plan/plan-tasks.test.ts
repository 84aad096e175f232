import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTasks, reconcilePlan, setBoxes } from './plan-tasks.ts'

test('ticking or opening a box changes nothing else', () => {
  const text = '\uFEFF- [ ] a\r\n* [X] b\r+ [ ] c\n  - [ ] detail'
  expect(setBoxes(text, new Map([[1, true]]))).toBe('\uFEFF- [x] a\r\n* [X] b\r+ [ ] c\n  - [ ] detail')
  const more = new Map([
    [2, false],
    [3, true],
    [4, true],
    [9, true],
  ])
  expect(setBoxes(text, more)).toBe('\uFEFF- [ ] a\r\n* [ ] b\r+ [x] c\n  - [ ] detail')
})

test('a mark that is already right is not rewritten', () => {
  expect(setBoxes('- [X] a', new Map([[1, true]]))).toBe('- [X] a')
})

test('in any text, exactly the given tasks change their state', () => {
  const line = fc.constantFrom(
    '- [ ] one',
    '- [x] two',
    '',
    '# Heading',
    '```',
    '  - [ ] detail',
    'text',
    '* [ ] three',
  )
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''))
  fc.assert(
    fc.property(text, fc.boolean(), (given, done) => {
      const tasks = planTasks(given)
      const after = planTasks(setBoxes(given, new Map(tasks.map((task) => [task.line, done]))))
      expect(after).toEqual(tasks.map((task) => ({ ...task, done })))
    }),
  )
})

const plan = '# Plan\n\n- [x] done before\n- [ ] at hand\n  - a detail\n- [ ] later\n'

test('an agent that does not touch the plan changes nothing', () => {
  expect(reconcilePlan(plan, plan, 'at hand')).toEqual({ text: plan, ticked: false, others: [], missing: [] })
})

test('the current task is always open afterwards, and the result shows whether the agent ticked it', () => {
  const after = plan.replace('[ ] at hand', '[x] at hand')
  expect(reconcilePlan(plan, after, 'at hand')).toMatchObject({ text: plan, ticked: true, others: [] })
})

test('other boxes are restored, ticked or open', () => {
  const after = plan.replace('[x] done before', '[ ] done before').replace('[ ] later', '[X] later')
  const { text, others } = reconcilePlan(plan, after, 'at hand')
  expect(text).toBe(plan)
  expect(others).toEqual(['done before', 'later'])
})

test('notes are kept, and new tasks stay open', () => {
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
])('after %s the whole plan is restored', (_, after) => {
  const { text, missing } = reconcilePlan(plan, after, 'at hand')
  expect(text).toBe(plan)
  expect(missing).toContain('later')
})

test('tasks with the same title are distinguished by their order', () => {
  const twins = '- [ ] same\n- [ ] same\n'
  expect(reconcilePlan(twins, '- [x] same\n- [x] same\n', 'same (2)')).toMatchObject({
    text: twins,
    ticked: true,
    others: ['same'],
  })
  expect(reconcilePlan(twins, '- [ ] same\n', 'same').missing).toEqual(['same'])
})
