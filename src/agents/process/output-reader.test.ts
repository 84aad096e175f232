import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter } from './output-reader.ts'

test('lines are the same however the bytes are split', () => {
  const line = fc
    .array(fc.constantFrom('a', 'é', '漢', '🦀', '"', '\\', '\0', ' '))
    .map((characters) => characters.join(''))
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.nat(200), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      (lines, cuts, newline) => {
        const bytes = new TextEncoder().encode(lines.map((text) => text + newline).join(''))
        const seen: string[] = []
        const splitter = createLineSplitter((text) => seen.push(text))
        const edges = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
        for (const [index, edge] of edges.entries())
          splitter.push(bytes.subarray(edge, edges[index + 1] ?? edge))
        splitter.end()
        expect(seen).toEqual(lines)
      },
    ),
  )
})

test('an unfinished last line is returned at the end', () => {
  expect(split(['a\nb'])).toEqual(['a', 'b'])
  expect(split(['a\n'])).toEqual(['a'])
})

test('bytes that are not UTF-8 do not stop the stream', () => {
  expect(split([new Uint8Array([0x61, 0xff, 0xc3, 0x0a, 0x62])])).toEqual(['a\uFFFD\uFFFD', 'b'])
})

test('a line of one megabyte in small chunks stays one line', () => {
  const seen = split(Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)))
  expect(seen.map(({ length }) => length)).toEqual([1_000_000])
})

test('an endless line is returned in pieces', () => {
  const seen = split(Array.from({ length: 20 }, () => 'x'.repeat(1024 * 1024)))
  expect(seen.length).toBe(2)
  expect(seen.join('').length).toBe(20 * 1024 * 1024)
})

function split(chunks: readonly (string | Uint8Array)[]): string[] {
  const lines: string[] = []
  const splitter = createLineSplitter((line) => lines.push(line))
  for (const chunk of chunks)
    splitter.push(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk)
  splitter.end()
  return lines
}
