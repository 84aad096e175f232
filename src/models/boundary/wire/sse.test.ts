import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SseEvent } from './contract.ts'
import { createSseReader, encodeSse } from './sse.ts'

const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point))

describe('server-sent events', () => {
  test('are the same however the bytes are split', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'data: x',
        'data:x',
        'data',
        'event: ping',
        'event:',
        ': comment',
        'id: 1',
        'data: é😀',
        '',
      ),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
    )
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\n\r\n')
    const text = fc.array(fc.tuple(line, lineEnd), { maxLength: 12 }).map((lines) => lines.flat().join(''))
    const bytes = fc.oneof(
      text.map((written) => new TextEncoder().encode(written)),
      fc.uint8Array({ maxLength: 80 }),
    )
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(120), { maxLength: 12 }), (whole, cuts) => {
        expect(eventsOf(cutAt(whole, cuts))).toEqual(eventsOf([whole]))
      }),
      { numRuns: 400 },
    )
  })

  test('are read back as they were written', () => {
    const word = fc.string({ unit: anyCharacter, maxLength: 30 }).map((text) => text.replaceAll('\r', '\n'))
    const event: fc.Arbitrary<SseEvent> = fc.record(
      { event: word.map((text) => text.replaceAll('\n', ' ')), data: word },
      { requiredKeys: ['data'] },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), fc.array(fc.nat(200)), (events, cuts) => {
        const bytes = new TextEncoder().encode(events.map(encodeSse).join(''))
        expect(eventsOf(cutAt(bytes, cuts))).toEqual(events)
      }),
      { numRuns: 200 },
    )
  })

  test('without the blank line after them are not events', () => {
    expect(eventsOf(['data: a\n\ndata: b'])).toEqual([{ data: 'a' }])
    expect(eventsOf(['data: a\n\ndata: b\n'])).toEqual([{ data: 'a' }])
    expect(eventsOf(['data: a\n\ndata: b\r\n'])).toEqual([{ data: 'a' }])
    expect(eventsOf(['data: a\r\r'])).toEqual([{ data: 'a' }])
  })

  test('do not end early when a line break is split', () => {
    expect(eventsOf(['data: a\r', '\ndata: b\r', '', '\n\r', '\n'])).toEqual([{ data: 'a\nb' }])
  })

  test('cannot be injected by a line break in name or data', () => {
    expect(eventsOf([encodeSse({ event: 'a\ndata: no', data: 'x\r\n\r\ndata: y' })])).toEqual([
      { event: 'a data: no', data: 'x\n\ndata: y' },
    ])
  })

  test('that are large and arrive in small pieces are joined', () => {
    const data = 'x'.repeat(1_000_000)
    const bytes = new TextEncoder().encode(encodeSse({ data }))
    const cuts = Array.from({ length: 2_000 }, (_, index) => index * 500)
    expect(eventsOf(cutAt(bytes, cuts))).toEqual([{ data }])
  })
})

function eventsOf(pieces: readonly (Uint8Array | string)[]): SseEvent[] {
  const events: SseEvent[] = []
  const reader = createSseReader((event) => events.push(event))
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return events
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return edges.map((edge, index) => bytes.subarray(edge, edges[index + 1] ?? edge))
}
