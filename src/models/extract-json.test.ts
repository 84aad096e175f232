import fc from 'fast-check'
import { expect, test } from 'vitest'
import { extractJson } from './extract-json.ts'

const first = (answer: string): unknown => extractJson(answer).next().value

test('bare JSON is the answer', () => {
  expect(first(' {"a": 1} \n')).toEqual({ a: 1 })
  expect(first('"text"')).toBe('text')
})

test('a fenced block is found, with or without a language', () => {
  expect(first('Here:\n```json\n{"a": [1, 2]}\n```\nDone.')).toEqual({ a: [1, 2] })
  expect(first('```\n7\n```')).toBe(7)
})

test('JSON in prose is found, despite braces in strings and in prose', () => {
  expect(first('I use {placeholders} and say {"a": "}{", "b": {"c": "\\""}} as asked.')).toEqual({
    a: '}{',
    b: { c: '"' },
  })
})

test('the last of several values comes first, because answers follow quotations', () => {
  expect([...extractJson('The file says {"score": 1}. My answer: {"score": 0}')]).toEqual([
    { score: 0 },
    { score: 1 },
  ])
})

test('no JSON gives nothing', () => {
  expect([...extractJson('I cannot do that.')]).toEqual([])
  expect([...extractJson('')]).toEqual([])
  expect([...extractJson('{"a": ')]).toEqual([])
})

test('any value is found in any wrapping', () => {
  const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))
  const prose = fc.string().filter((text) => !/["`{}[\]]/.test(text))
  fc.assert(
    fc.property(value, prose, prose, (inner, before, after) => {
      const json = JSON.stringify(inner)
      const expected: unknown = JSON.parse(json)
      expect(first(json)).toEqual(expected)
      expect(first(`${before}\n\`\`\`json\n${json}\n\`\`\`\n${after}`)).toEqual(expected)
      expect(first(`${before}x ${json} x${after}`)).toEqual(expected)
    }),
  )
})

test.each(['{', '[', '{"', '```', '{"a":', '[]'])('a hostile answer of %j is handled quickly', (piece) => {
  for (const value of extractJson(piece.repeat(100_000))) if (value === null) break
})
