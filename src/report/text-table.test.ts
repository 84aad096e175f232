import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth } from './display-width.ts'
import { type Column, textTable } from './text-table.ts'

interface Row {
  readonly name: string
  readonly cost: string
}

const columns: readonly Column<Row>[] = [
  { title: 'name', shorten: 'middle', minWidth: 6, text: ({ name }) => name },
  { title: 'COST OF IT', align: 'right', dropAt: 1, text: ({ cost }) => cost },
  { title: 'kind', dropAt: 2, text: () => 'x' },
]
const rows = [
  { name: 'a-very-long-name', cost: '$1' },
  { name: 'b', cost: '' },
]

test('long texts are shortened first, then the least important columns are dropped, then the rest of the texts', () => {
  const drawn = (width: number): string[] => {
    const table = textTable(columns, rows, width)
    return [table.heading, ...rows.map(table.line)]
  }
  expect(drawn(Infinity)).toEqual([
    'name              COST OF IT  kind',
    'a-very-long-name          $1  x',
    'b                             x',
  ])
  expect(drawn(24)).toEqual(['name    COST OF IT  kind', 'a-v…me          $1  x', 'b                   x'])
  expect(drawn(20)).toEqual(['name      COST OF IT', 'a-ve…ame          $1', 'b'])
  expect(drawn(17)).toEqual(['name', 'a-very-long-name', 'b'])
  expect(drawn(3)).toEqual(['name', 'a-…e', 'b'])
})

test('a title is never shortened, and no line is wider than requested unless a title is', () => {
  const cell = fc.record({
    name: fc.string({ maxLength: 40 }),
    cost: fc.constantFrom('', '$0.0001', 'unmetered'),
  })
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 5 }), fc.integer({ min: 0, max: 60 }), (cells, width) => {
      const table = textTable(columns, cells, width)
      expect(table.heading.split(/ {2,}/)).toEqual(table.titles)
      expect(table.titles[0]).toBe('name')
      for (const line of [table.heading, ...cells.map(table.line)])
        expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(4, width))
    }),
  )
})

test('blank cells are not painted', () => {
  const painted: Column<Row> = { title: 'c', text: ({ cost }) => cost, paint: (text) => `<${text}>` }
  const table = textTable([painted], rows, 20)
  expect(rows.map(table.line)).toEqual(['<$1>', ''])
})
