import { expect, test } from 'vitest'
import type { TestFileFacts } from '../contract.ts'
import { weakenings } from './weakenings.ts'

const facts = (change: Partial<TestFileFacts> = {}): TestFileFacts => ({
  hash: 'h',
  cases: 3,
  skipped: 0,
  assertions: 5,
  ...change,
})
const look = (files: Record<string, TestFileFacts>, definitions: Record<string, string> = {}) => ({
  files,
  definitions,
})

test('what grew or stayed is no weakening', () => {
  const before = look({ a: facts() }, { 'npm test': 'jest' })
  expect(weakenings(before, before)).toEqual([])
  const after = look(
    { a: facts({ hash: 'i', cases: 4, assertions: 9 }), b: facts({ hash: 'j' }) },
    { 'npm test': 'jest' },
  )
  expect(weakenings(before, after)).toEqual([])
})

test('without two looks nothing is said', () => {
  expect(weakenings(null, look({}))).toEqual([])
  expect(weakenings(look({ a: facts() }), null)).toEqual([])
})

test('a file that was moved as it is was not deleted, one without tests is not missed', () => {
  expect(weakenings(look({ a: facts() }), look({ b: facts() }))).toEqual([])
  expect(weakenings(look({ a: facts({ cases: 0 }) }), look({}))).toEqual([])
})

test('a copy that was there before hides no deletion', () => {
  expect(weakenings(look({ a: facts(), b: facts() }), look({ b: facts() }))).toEqual([
    '"a" with 3 tests was deleted',
  ])
})

test('fewer tests, fewer assertions, new skips and another definition are each named', () => {
  const before = look({ a: facts() }, { 'npm test': 'jest', 'make test': 'test:\n\tpytest' })
  const after = look({ a: facts({ hash: 'i', cases: 1, skipped: 2, assertions: 1 }) }, { 'npm test': 'true' })
  expect(weakenings(before, after)).toEqual([
    '"a" has 1 test, before it had 3',
    '"a" has 2 skipped or narrowed tests, before it had 0',
    '"a" has 1 assertion, before it had 5',
    'the definition of "npm test" changed; before: "jest"; now: "true"',
    'the definition of "make test" changed; before: "test: pytest"; it is no longer defined',
  ])
})
