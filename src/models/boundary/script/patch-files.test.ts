import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addFilePatch, updateFilePatch } from './dialects.ts'

test('a file is added line by line', () => {
  expect(addFilePatch('a/b.txt', 'one\n\n+three\n')).toBe(
    '*** Begin Patch\n*** Add File: a/b.txt\n+one\n+\n++three\n*** End Patch\n',
  )
})

test('a file without complete lines cannot be expressed', () => {
  expect(addFilePatch('f', 'no end of line')).toBeNull()
  expect(addFilePatch('f', '')).toBeNull()
  expect(addFilePatch('f', 'windows\r\n')).toBeNull()
  expect(updateFilePatch('f', 'no end', 'no', 'yes')).toBeNull()
  expect(updateFilePatch('f', 'a\nb\n', 'b\n', '')).not.toBeNull()
  expect(updateFilePatch('f', 'a\nb\n', 'b\n', 'c')).toBeNull()
})

test('the patch contains the whole lines around a change', () => {
  expect(updateFilePatch('f', 'one\ntwo three\nfour\n', 'three', '3')).toBe(
    '*** Begin Patch\n*** Update File: f\n@@\n-two three\n+two 3\n*** End Patch\n',
  )
})

test('a text that is missing or ambiguous cannot be expressed', () => {
  expect(updateFilePatch('f', 'a\n', 'b', 'c')).toBeNull()
  expect(updateFilePatch('f', 'a a\n', 'a', 'c')).toBeNull()
})

test('every patch changes exactly the intended text', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', '+'), maxLength: 3 })
  const lines = fc
    .array(line, { minLength: 1, maxLength: 6 })
    .map((all) => all.map((one) => `${one}\n`).join(''))
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '-'), minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(lines, piece, piece, (text, old, replacement) => {
      const patch = updateFilePatch('f', text, old, replacement)
      if (patch === null) return
      expect(applied(text, patch)).toBe(text.replace(old, () => replacement))
    }),
  )
})

/** How Codex applies a patch of one hunk: it replaces the removed lines, wherever they are, by the added ones. */
function applied(text: string, patch: string): string {
  const body = patch.split('\n').slice(3, -2)
  const pick = (sign: string): string =>
    body
      .filter((line) => line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  const at = `\n${text}`.indexOf(`\n${pick('-')}`)
  return text.slice(0, at) + pick('+') + text.slice(at + pick('-').length)
}
