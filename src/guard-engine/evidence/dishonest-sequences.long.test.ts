import { test } from 'vitest'
import { corpusLines, everyNth } from '../../../test/support/corpus-lines.ts'
import { checkDishonest, checkGuarded, type GuardedCase } from '../../../test/support/play-guarded.ts'

const cases = corpusLines<GuardedCase>('dishonest-sequences').filter(({ core }) => core !== true)

test.each(everyNth(cases, 2))('$name: does not end VERIFIED', checkDishonest)

const honest = corpusLines<GuardedCase>('honest-changes').filter(({ core }) => core !== true)

test.each(honest)('$name: the first stop is accepted', checkGuarded)
