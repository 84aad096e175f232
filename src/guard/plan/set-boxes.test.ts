import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTasks } from './plan-tasks.ts'
import { setBoxes } from './set-boxes.ts'

test('a box is ticked and opened, and nothing else changes', () => {
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

test('a mark that is right already is left as it is written', () => {
  expect(setBoxes('- [X] a', new Map([[1, true]]))).toBe('- [X] a')
})

test('in any text exactly the asked tasks change their state', () => {
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
