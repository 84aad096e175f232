import { symlinkSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import type { Grader } from '../../generate/contract.ts'
import { keptFiles } from './kept-files.ts'

const looking = (path: string): Grader => ({
  name: path,
  weight: 1,
  arm: 'default',
  type: 'regex',
  pattern: 'x',
  flags: '',
  match: 'contains',
  target: { source: 'file', path },
})

test('only files that graders need are stored, and none from outside of the workspace', async () => {
  const fixture = await createFixture({
    'a.txt': 'hello',
    'other.txt': 'not asked for',
    'binary.bin': Buffer.from([1, 0, 2]),
    'long.txt': 'x'.repeat(300_000),
    'dir/x': 'y',
  })
  onTestFinished(() => fixture.rm())
  symlinkSync('/etc/hostname', fixture.getPath('link.txt'))
  const paths = ['a.txt', 'gone.txt', 'binary.bin', 'long.txt', 'dir', '../x', '/etc/hostname', 'link.txt']
  const graders = [...paths, 'a.txt'].map(looking)
  expect(keptFiles({ case: { dir: '/', graders } }, fixture.path)).toEqual({
    'a.txt': { kind: 'text', text: 'hello' },
    'gone.txt': { kind: 'missing' },
    'binary.bin': { kind: 'refused', reason: 'binary.bin is not a text file' },
    'long.txt': { kind: 'refused', reason: 'long.txt is larger than 256 KiB' },
    dir: { kind: 'refused', reason: 'dir is a directory, not a file' },
    '../x': { kind: 'refused', reason: expect.stringContaining('leads out') },
    '/etc/hostname': { kind: 'refused', reason: expect.stringContaining('absolute') },
    'link.txt': { kind: 'refused', reason: expect.stringContaining('link.txt leads to') },
  })
  expect(keptFiles({}, fixture.path)).toBeUndefined()
})
