import { expect, test } from 'vitest'
import { corpusLines } from '../../../test/support/corpus-lines.ts'
import { askedScope, asksForNoRun, claimsAllDone } from './plan-scope.ts'

interface ScopeCase {
  readonly prompt?: string
  /** Not the first one of the session. */
  readonly later?: true
  readonly limited?: boolean
  readonly tasks?: number
  readonly same?: boolean
  readonly message?: string
  readonly claims?: boolean
}

const cases = corpusLines<ScopeCase>('plan-scope')

test.each(cases.filter(({ prompt }) => prompt !== undefined))('$prompt', (each) => {
  const scope = askedScope(each.prompt ?? '', each.later)
  if (each.same) expect(scope).toBe('same')
  else if (each.tasks !== undefined) expect(scope).toEqual({ tasks: each.tasks })
  else expect(scope).toEqual(each.limited ? { tasks: null } : null)
})

test.each(cases.filter(({ message }) => message !== undefined))('$message', ({ message, claims }) => {
  expect(claimsAllDone(message ?? null)).toBe(claims)
})

test.each([
  "Fix the typo in the parser. Don't run the tests, they take an hour.",
  'Rename it without running the tests',
  'No need to run the test suite for this.',
  'do not run any tests yet',
  "Don't run tests and don't commit.",
])('asks to run no checks: %s', (prompt) => expect(asksForNoRun(prompt)).toBe(true))

test.each([
  "Don't run the tests twice.",
  "Don't run the tests in watch mode.",
  'Do not run the tests before you have built it.',
  "The tests don't run on Windows. Fix that.",
  "Don't stop without running the tests first.",
  "Don't forget to run the tests.",
  'Never stop, and run the tests.',
  'Add an option "skip" to the runner.',
])('asks for checks: %s', (prompt) => expect(asksForNoRun(prompt)).toBe(false))
