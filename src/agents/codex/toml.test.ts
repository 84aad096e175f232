import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { tomlSetting } from './toml.ts'

test.each([
  ['a', 'x', 'a = "x"'],
  ['a.b', 'say "hi"\n', 'a.b = "say \\"hi\\"\\n"'],
  ['a', '\u007f', 'a = "\\u007f"'],
  ['a', true, 'a = true'],
  ['a', 1.5, 'a = 1.5'],
  ['a', ['x', 2], 'a = ["x", 2]'],
  ['a', { 'b c': { d: 1 }, e: [] }, 'a = {"b c" = {"d" = 1}, "e" = []}'],
  ['a', {}, 'a = {}'],
])('%j and %j are %s', (key, value, line) => {
  expect(tomlSetting(key, value)).toBe(line)
})

test('a string stays on one line, without a control character, and keeps its meaning', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const written = tomlSetting('a', text).slice('a = '.length)
      expect(written).not.toMatch(/\p{Cc}/u)
      expect(JSON.parse(written)).toBe(text)
    }),
  )
})
