import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLineSplitter } from './process/output-reader.ts'
import { createUsageMeter, type StreamParser } from './stream.ts'

/** The guarantees of every stream parser, tested on captured streams and on arbitrary input. */
export function describeStreamParser(name: string, create: () => StreamParser, fixtures: string): void {
  const samples = readdirSync(fixtures)
    .filter((file) => /\.(stream|exec)\.jsonl$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(fixtures, file), 'utf8') }))

  describe(`${name}: a stream parser`, () => {
    test.each(samples)('turns $file into the events next to it', ({ file, text }) => {
      const golden = readFileSync(
        join(fixtures, file.replace(/\.(stream|exec)\.jsonl$/, '.events.jsonl')),
        'utf8',
      )
      const expected = golden.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      expect(eventsOf(create(), text.split('\n'))).toEqual(expected)
    })

    test.each(samples)('reads $file the same however its bytes are split', ({ text }) => {
      const whole = eventsOf(create(), text.split('\n'))
      const bytes = new TextEncoder().encode(text.replaceAll('\n', '\r\n'))
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 }), (cuts) => {
          expect(eventsOf(create(), linesOf(bytes, cuts))).toEqual(whole)
        }),
        { numRuns: 15 },
      )
    })

    test('accounts for every line of any stream and never throws', () => {
      fc.assert(
        fc.property(fc.array(anyLine(samples.flatMap(({ text }) => text.split('\n')))), (lines) => {
          const parser = create()
          for (const line of lines) {
            const events = parser.push(line)
            expect(events.length > 0).toBe(line.trim() !== '')
          }
          parser.end()
        }),
        { numRuns: 200 },
      )
    })

    test('reports the sum of the emitted usage as its total, and never a negative one', () => {
      const sampleLines = samples.flatMap(({ text }) => text.split('\n'))
      fc.assert(
        fc.property(fc.array(anyLine(sampleLines), { maxLength: 60 }), (lines) => {
          const parser = create()
          const meter = createUsageMeter()
          for (const event of eventsOf(parser, lines)) {
            if (event.event !== 'usage') continue
            expect(
              Math.min(event.input_tokens, event.output_tokens, event.cost_usd ?? 0),
            ).toBeGreaterThanOrEqual(0)
            meter.add(event)
          }
          expect(parser.usage()).toEqual(meter.total())
          expect(parser.end()).toMatchObject(meter.total())
        }),
        { numRuns: 100 },
      )
    })

    test('counts a repeated stream once', () => {
      for (const { text } of samples) {
        const once = create()
        eventsOf(once, text.split('\n'))
        const doubled = create()
        eventsOf(
          doubled,
          text.split('\n').flatMap((line) => [line, line]),
        )
        expect(doubled.end().costUsd).toBe(once.end().costUsd)
        expect(doubled.end().tokens).toEqual(once.end().tokens)
        expect(doubled.turns()).toBe(once.turns())
      }
    })
  })
}

function eventsOf(parser: StreamParser, lines: readonly string[]) {
  return lines.flatMap((line) => parser.push(line))
}

function linesOf(bytes: Uint8Array, cuts: readonly number[]): string[] {
  const lines: string[] = []
  const splitter = createLineSplitter((line) => lines.push(line))
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  for (const [index, edge] of edges.entries()) splitter.push(bytes.subarray(edge, edges[index + 1] ?? edge))
  splitter.end()
  return lines
}

/** Real lines, truncated lines, real lines with values of the wrong type, JSON that is not a stream, and noise. */
function anyLine(samples: readonly string[]): fc.Arbitrary<string> {
  const sample = fc.constantFrom(...samples.filter((line) => line !== ''))
  const torn = fc.tuple(sample, fc.nat(5_000)).map(([line, length]) => line.slice(0, length))
  const keys = [
    ...new Set(
      samples.flatMap((line) => [...line.matchAll(/"([a-zA-Z_]+)":/g)].map((found) => found[1] ?? '')),
    ),
  ]
  const twisted = fc
    .tuple(
      sample,
      fc.constantFrom(...keys),
      fc.oneof(fc.jsonValue(), fc.constantFrom('failed', -1, 1e308, '1')),
    )
    .map(([line, key, value]) => JSON.stringify(JSON.parse(line), (at, old) => (at === key ? value : old)))
  return fc.oneof(
    sample,
    torn,
    twisted,
    fc.json(),
    fc.string(),
    fc.constantFrom('', '   ', '\u0000', '{', '[]', 'null'),
  )
}
