import { describe, expect, test } from 'vitest'
import { countTests, withoutEscapes } from './count-tests.ts'

describe('a summary is read through whatever a terminal was told', () => {
  test.each([
    ['colours', '\u001b[1m\u001b[32m 3 passed\u001b[39m\u001b[22m'],
    ['a title', '\u001b]0;tests\u0007 3 passed'],
    ['a link', '\u001b]8;;file:///x\u001b\\ 3 passed\u001b]8;;\u001b\\'],
    ['cursor moves', '\u001b[2K\u001b[1G\u001b(B 3 passed'],
    ['one-byte control sequences', '\u009b32m 3 passed\u009b0m'],
  ])('%s', (_, text) => {
    expect(withoutEscapes(text)).toBe(' 3 passed')
  })

  test('counts the tests of a coloured run', () => {
    const output =
      '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m3 passed\u001b[39m\u001b[22m\u001b[90m (3)\u001b[39m\r\n'
    expect(countTests(output)).toEqual({ executed: 3, skipped: 0, failed: 0 })
  })
})

test('an output without a summary tells nothing', () => {
  expect(countTests('compiled in 3s\n')).toBeNull()
})
