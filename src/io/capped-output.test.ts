import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { cappedOutput, cappedText } from './capped-output.ts'

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 })

test('output below the cap is kept whole for any chunks', () => {
  fc.assert(
    fc.property(chunks, (pieces) => {
      const whole = Buffer.concat(pieces)
      const output = cappedOutput(whole.length)
      for (const piece of pieces) output.push(piece)
      const { head, tail, cutBytes } = output.parts()
      expect([Buffer.compare(head, whole), tail.length, cutBytes]).toEqual([0, 0, 0])
      expect(output.totalBytes).toBe(whole.length)
      expect(cappedText(output)).toBe(whole.toString('utf8'))
    }),
  )
})

test('above the cap the beginning and the end are kept, and every byte is counted', () => {
  fc.assert(
    fc.property(chunks, fc.nat(100), (pieces, cap) => {
      const whole = Buffer.concat(pieces)
      const output = cappedOutput(cap)
      for (const piece of pieces) output.push(piece)
      const { head, tail, cutBytes } = output.parts()
      expect(head.equals(whole.subarray(0, head.length))).toBe(true)
      expect(tail.equals(whole.subarray(whole.length - tail.length))).toBe(true)
      expect(head.length + tail.length).toBeLessThanOrEqual(cap)
      expect(head.length + tail.length + cutBytes).toBe(whole.length)
      if (whole.length > cap) expect(head.length + tail.length).toBeGreaterThanOrEqual(cap - 6)
    }),
  )
})

test('a cut never leaves half a character', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: anyCharacter, maxLength: 20 }), { maxLength: 20 }),
      fc.nat(60),
      fc.integer({ min: 1, max: 7 }),
      (texts, cap, step) => {
        const whole = Buffer.from(texts.join('')).toString('utf8')
        const bytes = Buffer.from(whole)
        const output = cappedOutput(cap)
        for (let at = 0; at < bytes.length; at += step) output.push(bytes.subarray(at, at + step))
        const { head, tail, cutBytes } = output.parts()
        expect(whole.startsWith(head.toString('utf8'))).toBe(true)
        expect(whole.endsWith(tail.toString('utf8'))).toBe(true)
        if (cutBytes === 0) expect(cappedText(output)).toBe(whole)
        else expect(cappedText(output)).toContain(`[... ${cutBytes} bytes cut ...]\n`)
      },
    ),
  )
})

test('the note about the cut is on a separate line', () => {
  const output = cappedOutput(8)
  output.push(Buffer.from('abcdefghijklmnop'))
  expect(cappedText(output)).toBe('abcd\n[... 8 bytes cut ...]\nmnop')
})
