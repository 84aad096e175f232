import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { selectEntries } from './list-tree.ts'

const many = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => make(index))

describe('the entries of a tree', () => {
  test('are all listed when they fit, sorted', () => {
    expect(selectEntries(['b/', 'b/x', 'a'], { depth: 3, max: 100 })).toEqual({
      entries: ['a', 'b/', 'b/x'],
      omitted: 0,
    })
  })

  test('end at the depth', () => {
    const { entries, omitted } = selectEntries(['a/', 'a/b/', 'a/b/c'], { depth: 2, max: 100 })
    expect(entries).toEqual(['a/', 'a/b/'])
    expect(omitted).toBe(0)
  })

  test('are those of the upper levels when there are too many', () => {
    const known = [...many(200, (index) => `a/f${index}`), 'a/', 'z/', 'z/last', 'README.md']
    const { entries, omitted } = selectEntries(known, { depth: 3, max: 10 })
    expect(entries).toEqual(expect.arrayContaining(['README.md', 'a/', 'z/', 'z/last']))
    expect(entries).toHaveLength(10)
    expect(omitted).toBe(known.length - 10)
  })

  test('do not include missing files', () => {
    const isThere = (entry: string): boolean => entry !== 'gone'
    expect(selectEntries(['a', 'gone', 'z'], { depth: 1, max: 2, isThere })).toEqual({
      entries: ['a', 'z'],
      omitted: 0,
    })
  })

  test('depend only on the names, not on the order in which they are found', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-c]{1,2}(\/[a-c]{1,2}){0,2}\/?$/), { maxLength: 60 })
    fc.assert(
      fc.property(names, fc.integer({ min: 0, max: 20 }), (known, max) => {
        const forward = selectEntries(known, { depth: 3, max })
        expect(selectEntries(known.toReversed(), { depth: 3, max })).toEqual(forward)
        expect(forward.entries.length + forward.omitted).toBe(known.length)
      }),
    )
  })
})
