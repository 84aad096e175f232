import { test } from 'vitest'
import { corpusLines } from '../../../test/support/corpus-lines.ts'
import { checkGuarded, type GuardedCase } from '../../../test/support/play-guarded.ts'

const cases = corpusLines<GuardedCase>('proportion').filter(({ core }) => core !== true)

test.each(cases)('$name', checkGuarded)
