import fc from 'fast-check'
import { expect, test } from 'vitest'
import { demultiplex } from './run-step.ts'

test('content arrives complete and in order, however the stream is split', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 23 })), (contents, sizes) => {
      const wire = Buffer.concat(contents.map(([stream, content]) => frame(stream, content)))
      const seen: Uint8Array[] = []
      const take = demultiplex((content) => seen.push(Uint8Array.from(content)))
      for (let at = 0; at < wire.length; ) {
        const size = sizes.next().value
        take(wire.subarray(at, at + size))
        at += size
      }
      expect(Buffer.concat(seen)).toEqual(Buffer.concat(contents.map(([, content]) => content)))
    }),
  )
})

test('the beginning of a large frame is passed on before its end has arrived', () => {
  const seen: string[] = []
  const take = demultiplex((content) => seen.push(Buffer.from(content).toString()))
  take(frame(1, Buffer.from('long line')).subarray(0, 12))
  expect(seen).toEqual(['long'])
})

function frame(stream: number, content: Uint8Array): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(content.length, 4)
  return Buffer.concat([header, content])
}
