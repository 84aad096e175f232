import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unpackBody } from './unpack-body.ts'

test.each([
  ['gzip', gzipSync],
  ['GZIP ', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['identity', (bytes: Uint8Array) => bytes],
  ['', (bytes: Uint8Array) => bytes],
])('decompresses %j', async (encoding, pack) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), async (bytes) => {
      const unpacked = await unpackBody(pack(bytes), encoding, 10_000)
      expect(unpacked === null ? null : [...unpacked]).toEqual([...bytes])
    }),
    { numRuns: 10 },
  )
})

test('a body that cannot be decompressed is null', async () => {
  expect(await unpackBody(Buffer.from('{}'), 'gzip', 100)).toBeNull()
  expect(await unpackBody(Buffer.from('{}'), 'rot13', 100)).toBeNull()
  expect(await unpackBody(Buffer.from('{}'), 'constructor', 100)).toBeNull()
})

test('a decompression bomb is refused', async () => {
  expect(await unpackBody(gzipSync(new Uint8Array(1_000_000)), 'gzip', 10_000)).toBeNull()
})
