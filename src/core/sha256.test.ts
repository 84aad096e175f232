import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hex, hmacSha256, sha256Bytes } from './sha256.ts'

const native = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

test('every length around a block boundary gives the hash of node:crypto', () => {
  for (let length = 0; length < 300; length += 1) {
    const bytes = new Uint8Array(length).fill(length & 0xff)
    expect(hex(sha256Bytes(bytes)), `${length} bytes`).toBe(native(bytes))
  }
})

test('any bytes give the hash of node:crypto, in one part or in many', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 4 }), (parts) => {
      expect(hex(sha256Bytes(...parts))).toBe(native(Buffer.concat(parts)))
    }),
  )
})

test('an HMAC with a key of any length is that of node:crypto', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 300 }), (key, bytes) => {
      expect(hex(hmacSha256(key, bytes))).toBe(createHmac('sha256', key).update(bytes).digest('hex'))
    }),
  )
})
