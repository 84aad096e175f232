import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const keys = ['timeout_secs', 'max_turns', 'tags', 'tier', 'name']

test.each([
  ['timout_secs', 'timeout_secs'],
  ['timeoutSecs', 'timeout_secs'],
  ['max-turns', 'max_turns'],
  ['tgas', 'tags'],
  ['nam', 'name'],
  ['TIER', 'tier'],
])('%s is closest to %s', (word, expected) => {
  expect(nearest(word, keys)).toBe(expected)
})

test.each(['environment', 'x', '', 'zzzz'])('%j is close to nothing', (word) => {
  expect(nearest(word, keys)).toBeUndefined()
})

test('an exact word always finds itself among its neighbours', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{3,12}$/), { minLength: 1 }), (words) => {
      for (const word of words) expect(nearest(word, words)).toBe(word)
    }),
  )
})

test('one typo in a longer word is always found', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z]{4,12}$/),
      fc.nat(),
      fc.constantFrom('drop', 'swap'),
      (word, seed, slip) => {
        const at = seed % (word.length - 1)
        const [first, second] = [word[at] ?? '', word[at + 1] ?? '']
        const typed = word.slice(0, at) + (slip === 'drop' ? second : second + first) + word.slice(at + 2)
        expect(nearest(typed, [word])).toBe(word)
      },
    ),
  )
})
