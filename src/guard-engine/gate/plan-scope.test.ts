import { expect, test } from 'vitest'
import { corpusLines } from '../../../test/support/corpus-lines.ts'
import { askedScope, claimsAllDone } from './plan-scope.ts'

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
