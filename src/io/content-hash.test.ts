import { truncateSync, utimesSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { contentHash, fileHash } from './content-hash.ts'

test('the hash of parts depends on their boundaries', () => {
  expect(contentHash(['ab', 'c'])).toBe(contentHash(['ab', 'c']))
  const different = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['1:a'], ['a']].map(contentHash)
  expect(new Set(different).size).toBe(6)
})

test('the hash of a file depends on its content, not its time', async () => {
  await using fixture = await createFixture({ a: 'one', b: 'one', c: 'two' })
  utimesSync(fixture.getPath('b'), 1, 1)
  expect(fileHash(fixture.getPath('a'))).toBe(fileHash(fixture.getPath('b')))
  expect(fileHash(fixture.getPath('a'))).not.toBe(fileHash(fixture.getPath('c')))
})

test('a very large file is identified by size and time', async () => {
  await using fixture = await createFixture({ large: '' })
  const path = fixture.getPath('large')
  truncateSync(path, 51 * 1024 * 1024)
  utimesSync(path, 1, 1)
  const before = fileHash(path)
  utimesSync(path, 2, 2)
  expect(fileHash(path)).not.toBe(before)
})

test('an unreadable file has no hash', () => {
  expect(fileHash('/no/such/file')).toBeNull()
  expect(fileHash('/')).toBeNull()
})
