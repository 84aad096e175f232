import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { breakPieces, type Piece } from './deliver.ts'
import type { Fault } from './faults.ts'

async function* stream(pieces: readonly (Piece | null)[]): AsyncGenerator<Piece | null> {
  yield* pieces
}

async function sent(pieces: readonly (Piece | null)[], fault: Fault | null): Promise<string[]> {
  const steps: string[] = []
  for await (const step of breakPieces(stream(pieces), fault))
    steps.push(step.kind === 'send' ? Buffer.from(step.piece).toString() : `<${step.kind}>`)
  return steps
}

describe('breakPieces', () => {
  test('without a fault everything passes unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), async (pieces) => {
        expect(await sent(pieces, null)).toEqual(pieces)
      }),
    )
  })

  test('a stall comes after the configured number of pieces', async () => {
    expect(await sent(['a', 'b', 'c'], { kind: 'stall', afterChunks: 2 })).toEqual(['a', 'b', '<stall>'])
  })

  test('a cut is in the middle of its piece', async () => {
    expect(await sent(['ab', 'cdef', 'g'], { kind: 'cut', afterChunks: 1 })).toEqual(['ab', 'cd', '<cut>'])
  })

  test('a shorter answer stalls, or is cut, at its end', async () => {
    expect(await sent(['a'], { kind: 'stall', afterChunks: 5 })).toEqual(['a', '<stall>'])
    expect(await sent(['a'], { kind: 'cut', afterChunks: 5 })).toEqual(['a', '<cut>'])
  })

  test('an answer is cut where its source fails', async () => {
    expect(await sent(['a', null], null)).toEqual(['a', '<cut>'])
  })

  test('the JSON of one piece is broken, but not its frame and not the other pieces', async () => {
    const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
    const pieces = [event({ a: 1 }), ': ping\n\n', event({ b: { c: '}' } }), event({ d: 1 })]
    const steps = await sent(pieces, { kind: 'malformed_chunk', atChunk: 1 })
    expect(steps.toSpliced(2, 1)).toEqual(pieces.toSpliced(2, 1))
    const spoiled = steps[2] ?? ''
    expect(spoiled).toMatch(/^data: .*\n\n$/)
    expect(() => JSON.parse(spoiled.slice(6))).toThrow(SyntaxError)
  })
})
