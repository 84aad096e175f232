import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainLine, plainText, tailLines, withoutCommands } from './plain-text.ts'

test('escape sequences, control characters and direction marks are removed, text and line breaks stay', () => {
  const hostile =
    '\u001b]0;title\u0007\u001b[31mred\u001b[0m\u009b2J a\bb\u202etxt\u2066\r\nnext\rlast\u2028end\0'
  expect(plainText(hostile)).toBe('red abtxt\nnext\nlast\nend')
  expect(plainLine('  a\n\tb   c ')).toBe('a b c')
})

test('the output never controls a terminal', () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const piece = fc.oneof(
    unit,
    fc.constantFrom('\u001b', '[', ']', '\u009b', '\u0007', 'm', ';', '\ud800', '\u202e'),
  )
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, (value) => {
      const plain = plainText(value)
      expect(plain).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)
      expect(plain.isWellFormed()).toBe(true)
    }),
  )
})

test('the tail of a text includes the number of lines before it', () => {
  const text = Array.from({ length: 14 }, (_, index) => `line ${index + 1}`).join('\n')
  expect(tailLines(`${text}\n`, 3)).toEqual({ lines: ['line 12', 'line 13', 'line 14'], omitted: 11 })
  expect(tailLines('one', 3)).toEqual({ lines: ['one'], omitted: 0 })
  const huge = 'some line of output\n'.repeat(100_000)
  const { lines, omitted } = tailLines(huge, 10)
  expect(lines.length + omitted).toBe(100_000)
})

test('a line is never a command for a CI service', () => {
  expect(withoutCommands('a ::b\n  ::error::x\n::y\nz ##[group]')).toBe(
    'a ::b\n  : :error::x\n: :y\nz ## [group]',
  )
})
