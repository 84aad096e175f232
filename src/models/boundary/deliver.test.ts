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
  test('without a fault everything passes as it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), async (pieces) => {
        expect(await sent(pieces, null)).toEqual(pieces)
      }),
    )
  })

  test('a stall comes after the pieces it lets pass', async () => {
    expect(await sent(['a', 'b', 'c'], { kind: 'stall', afterChunks: 2 })).toEqual(['a', 'b', '<stall>'])
  })

  test('a cut falls into the middle of its piece', async () => {
    expect(await sent(['ab', 'cdef', 'g'], { kind: 'cut', afterChunks: 1 })).toEqual(['ab', 'cd', '<cut>'])
  })

  test('an answer that is too short stalls, or is cut, at its end', async () => {
    expect(await sent(['a'], { kind: 'stall', afterChunks: 5 })).toEqual(['a', '<stall>'])
    expect(await sent(['a'], { kind: 'cut', afterChunks: 5 })).toEqual(['a', '<cut>'])
  })

  test('a source that breaks off is cut there', async () => {
    expect(await sent(['a', null], null)).toEqual(['a', '<cut>'])
  })

  test('the JSON of one piece is broken, its frame is not, and the others stay whole', async () => {
    const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
    const pieces = [event({ a: 1 }), ': ping\n\n', event({ b: { c: '}' } }), event({ d: 1 })]
    const steps = await sent(pieces, { kind: 'malformed_chunk', atChunk: 1 })
    expect(steps.toSpliced(2, 1)).toEqual(pieces.toSpliced(2, 1))
    const spoiled = steps[2] ?? ''
    expect(spoiled).toMatch(/^data: .*\n\n$/)
    expect(() => JSON.parse(spoiled.slice(6))).toThrow(SyntaxError)
  })
})
