import { expect, test } from 'vitest'
import { parseTask, taskTextProblem } from './parse-task.ts'

test('sections are recognized regardless of bullets and case, and the rest is the objective', () => {
  const task = parseTask(`Fix the parser so that it reads numbers.

CONSTRAINTS:
- The public API stays
* Node 20 still works

## Non-goals
1. Speed
2) Pretty errors

**Out of scope:**
• the lexer

It must stay small.
`)
  expect(task).toMatchObject({
    objective: 'Fix the parser so that it reads numbers.\n\nIt must stay small.',
    mustPreserve: ['The public API stays', 'Node 20 still works'],
    nonGoals: ['Speed', 'Pretty errors'],
    boundaries: ['the lexer'],
    warnings: [],
  })
  expect(task.successCriteria).toEqual([
    task.objective,
    'Preserved: The public API stays',
    'Preserved: Node 20 still works',
    'The bug no longer occurs, and a test would notice if it came back.',
  ])
})

test.each([
  ['Constraints', 'mustPreserve'],
  ['must preserve:', 'mustPreserve'],
  ['### Requirements', 'mustPreserve'],
  ['Non-Goals:', 'nonGoals'],
  ["Don't:", 'nonGoals'],
  ['Do not', 'nonGoals'],
  ['AVOID', 'nonGoals'],
  ['Boundaries:', 'boundaries'],
  ['out of scope', 'boundaries'],
  ['Scope limits', 'boundaries'],
] as const)('%s is a heading', (heading, list) => {
  const task = parseTask(`Make it work well.\n${heading}\n- one\n  goes on\n\n- two\n`)
  expect(task[list]).toEqual(['one goes on', 'two'])
  expect(task.objective).toBe('Make it work well.')
})

test('a heading without bullets is ordinary text', () => {
  const task = parseTask('Avoid\nthe race in the worker')
  expect(task).toMatchObject({ objective: 'Avoid\nthe race in the worker', nonGoals: [] })
})

test('when nothing remains, the first line is the objective', () => {
  expect(parseTask('Constraints:\n- keep the API\n').objective).toBe('Constraints:')
})

test.each([
  ['Implement a cache', /new behaviour works/],
  ['Refactor the store', /unchanged/],
  ['Write a test for it', /exist, are run/],
  ['Update the reader', /everywhere/],
  ['Speed it up, please', /^All tests pass\.$/],
])('%s implies a criterion', (text, criterion) => {
  expect(parseTask(text).successCriteria.at(-1)).toMatch(criterion)
})

test.each([
  ['', /empty/],
  [' \n\t ', /blank/],
  ['x'.repeat(10_001), /10,001 characters, the limit is 10,000/],
  ['x'.repeat(1024 * 1024), /1,048,576 characters/],
])('a text that is not a task is refused', (text, reason) => {
  expect(taskTextProblem(text)).toMatch(reason)
  expect(() => parseTask(text)).toThrow(reason)
})

test('ten thousand characters are accepted, and a very short text gives a warning', () => {
  expect(parseTask('x'.repeat(10_000)).warnings).toEqual([])
  expect(parseTask('ab').warnings).toHaveLength(2)
  expect(parseTask('Fix it').warnings).toEqual([expect.stringContaining('objective')])
})
