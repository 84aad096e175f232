import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { deleteFileInside, writeTextInside } from './change-inside.ts'

test('a file is written with its directories, and overwritten', async () => {
  await using fixture = await createFixture()
  expect(writeTextInside(fixture.path, 'a/b.txt', 'long text')).toEqual({ kind: 'done' })
  expect(writeTextInside(fixture.path, 'a/b.txt', 'short')).toEqual({ kind: 'done' })
  expect(readFileSync(fixture.getPath('a/b.txt'), 'utf8')).toBe('short')
})

test('a link that leads out is not followed for writing or deleting', async () => {
  await using fixture = await createFixture({ 'root/x': '', 'secret.txt': 'secret' })
  const root = fixture.getPath('root')
  symlinkSync('../secret.txt', fixture.getPath('root/link'))
  expect(writeTextInside(root, 'link', 'bad').kind).toBe('refused')
  expect(deleteFileInside(root, 'link').kind).toBe('refused')
  expect(deleteFileInside(root, '../secret.txt').kind).toBe('refused')
  expect(readFileSync(fixture.getPath('secret.txt'), 'utf8')).toBe('secret')
})

test('a FIFO, a directory and a missing file are refused without waiting', async () => {
  await using fixture = await createFixture({ 'dir/x': '' })
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', fixture.getPath('fifo')])
  expect(writeTextInside(fixture.path, 'fifo', 'x').kind).toBe('refused')
  expect(writeTextInside(fixture.path, 'dir', 'x').kind).toBe('refused')
  expect(deleteFileInside(fixture.path, 'dir').kind).toBe('refused')
  expect(deleteFileInside(fixture.path, 'none')).toEqual({ kind: 'refused', reason: 'none does not exist' })
})
