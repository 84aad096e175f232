import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cacheKey } from './cache-key.ts'

const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>
const parts = fc.dictionary(fc.string(), value)

describe('cacheKey', () => {
  test('is a SHA-256 in hexadecimal, and stays the same between releases', () => {
    expect(cacheKey({ b: [1, 'é', null], a: { d: true, c: 0.5 } })).toBe(
      'f993b89d90bcfb7fe89fd12dfdb596894ae54f145ad09b73ad79017aae3b3646',
    )
  })

  test('does not depend on the order of keys at any depth', () => {
    fc.assert(
      fc.property(parts, (original) => {
        expect(cacheKey(shuffled(original) as Record<string, unknown>)).toBe(cacheKey(original))
      }),
    )
  })

  test('two sets of parts share a key only when they are equal', () => {
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const equal = isDeepEqual(left, right)
        expect(cacheKey(left) === cacheKey(right)).toBe(equal)
      }),
    )
  })

  test('any changed value changes it', () => {
    fc.assert(
      fc.property(parts, fc.string(), value, value, (rest, key, before, after) => {
        fc.pre(!isDeepEqual(before, after))
        expect(cacheKey({ ...rest, [key]: before })).not.toBe(cacheKey({ ...rest, [key]: after }))
      }),
    )
  })

  test('moving text from one part to the next changes it', () => {
    expect(cacheKey({ a: 'xy', b: 'z' })).not.toBe(cacheKey({ a: 'x', b: 'yz' }))
    expect(cacheKey({ a: ['x', 'y'] })).not.toBe(cacheKey({ a: ['x,y'] }))
    expect(cacheKey({ a: 1 })).not.toBe(cacheKey({ a: '1' }))
  })

  test('a part that is undefined is a part that is not there', () => {
    expect(cacheKey({ a: 1, b: undefined })).toBe(cacheKey({ a: 1 }))
  })

  test.each([[NaN], [Infinity], [() => 1], [Symbol('x')], [10n], [new Map()], [new Date(0)], [[undefined]]])(
    'refuses %s, which JSON would flatten',
    (bad) => {
      expect(() => cacheKey({ bad })).toThrow(TypeError)
    },
  )
})

/** JSON's own idea of equality: minus zero is zero. */
function isDeepEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}

function sorted(input: unknown): unknown {
  return rebuilt(input, (keys) => keys.sort())
}

function shuffled(input: unknown): unknown {
  return rebuilt(input, (keys) => keys.sort().reverse())
}

function rebuilt(input: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(input)) return input.map((item) => rebuilt(item, order))
  if (typeof input !== 'object' || input === null) return input
  const entries = new Map<string, unknown>(Object.entries(input))
  const result: Record<string, unknown> = Object.create(null)
  for (const key of order([...entries.keys()])) result[key] = rebuilt(entries.get(key), order)
  return result
}
