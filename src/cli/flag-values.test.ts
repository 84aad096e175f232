import { expect, test } from 'vitest'
import { count, duration, list, names, repeated, share, usd, wholeNumber } from './flag-values.ts'

test('a list accepts commas and repetitions, and drops empty items', () => {
  expect(list(' c, ,d ', ['a', 'b'])).toEqual(['a', 'b', 'c', 'd'])
  expect(names('b, c', ['a'])).toEqual(['a', 'b', 'c'])
  expect(repeated('a,b', ['x'])).toEqual(['x', 'a,b'])
})

test('valid values are parsed', () => {
  expect([count('3'), wholeNumber('0'), usd('$2.50'), share('0.25')]).toEqual([3, 0, 2.5, 0.25])
  expect([duration('90s'), duration('20m'), duration('300ms')]).toEqual([90_000, 1_200_000, 300])
})

test.each<[(value: string) => unknown, string[]]>([
  [names, ['', 'a,', ' , b']],
  [count, ['0', '-1', '1.5', 'two', '']],
  [wholeNumber, ['-1', '0.5', ' ', '']],
  [usd, ['0', '-2', 'free', '', 'Infinity']],
  [share, ['-0.1', '1.1', '', 'half', 'NaN']],
  [duration, ['', '5', 'soon', '-5s']],
])('%o rejects invalid values', (parse, values) => {
  for (const value of values) expect(() => parse(value), value).toThrow()
})
