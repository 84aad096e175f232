import { expect, it } from 'vitest'
import { firstChars, headAndTail, headAndTailOfList, shorten } from './shorten.ts'

it('does not change a short text', () => {
  expect(shorten('abc', 3)).toBe('abc')
  expect(headAndTail('abc', 3)).toBe('abc')
  expect(headAndTailOfList(['a', 'b'], 3, 'lines')).toBe('a\nb')
})

it('cuts a text so the mark fits too', () => {
  expect(shorten('abcdef', 4)).toBe('abc…')
  expect(shorten('abcdef', 5, '...')).toBe('ab...')
})

it('never keeps half a character', () => {
  expect(firstChars('ab😀', 3)).toBe('ab')
  expect(shorten('ab😀cd', 4)).toBe('ab…')
  expect(headAndTail('😀😀😀', 4)).toBe('\n[4 characters are left out here]\n😀')
})

it('keeps more of the end than of the beginning', () => {
  expect(headAndTail('a'.repeat(10) + 'z'.repeat(10), 9)).toBe(
    'aaa\n[11 characters are left out here]\nzzzzzz',
  )
  expect(headAndTailOfList(['one', 'two', 'three', 'four', 'five'], 15, 'messages')).toBe(
    'one\n[2 messages are left out here]\nfour\nfive',
  )
})
