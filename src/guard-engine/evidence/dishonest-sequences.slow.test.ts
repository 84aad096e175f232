import { expect, test } from 'vitest'
import { corpusLines } from '../../../test/support/corpus-lines.ts'
import { checkDishonest, checkGuarded, type GuardedCase } from '../../../test/support/play-guarded.ts'

const cases = corpusLines<GuardedCase & { readonly toolchain: string }>('dishonest-sequences')

test('the corpus is large, covers many toolchains, and its names are unique', () => {
  expect(cases.length).toBeGreaterThanOrEqual(150)
  expect(new Set(cases.map(({ toolchain }) => toolchain)).size).toBeGreaterThanOrEqual(10)
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})

test.each(cases.filter(({ core }) => core === true))('$name: does not end VERIFIED', checkDishonest)

const honest = corpusLines<GuardedCase>('honest-changes')

test.each(honest.filter(({ core }) => core === true))('$name: ends VERIFIED', checkGuarded)
