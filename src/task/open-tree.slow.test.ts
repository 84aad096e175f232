import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterEach, expect, test } from 'vitest'
import { openTree } from './open-tree.ts'

const fixtures: FsFixture[] = []
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.rm()
})

test('restoring a state reverts changed, new, deleted, linked and moved files, and nothing else', async () => {
  const { fixture, root, tree } = await project({
    'src/a.txt': 'one\n',
    'src/gone.txt': 'gone\n',
    'run.sh': '#!/bin/sh\n',
    'keep.txt': 'old\n',
    'dir/inner.txt': 'inner\n',
    '.gitignore': '*.log\n',
  })
  const before = await tree.take()
  await fixture.writeFile('app/src/a.txt', 'two\n')
  await fixture.writeFile('app/new file [x].txt', 'new\n')
  await fixture.writeFile('app/keep.txt', 'new\n')
  await fixture.rm('app/src/gone.txt')
  await fixture.rm('app/dir')
  symlinkSync('/etc', join(root, 'dir'))
  const changed = await tree.changes(before, await tree.take())
  expect([...changed].sort()).toEqual([
    'dir',
    'dir/inner.txt',
    'keep.txt',
    'new file [x].txt',
    'src/a.txt',
    'src/gone.txt',
  ])
  await tree.putBack(
    before,
    changed.filter((path) => path !== 'keep.txt'),
  )
  expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('one\n')
  expect(readFileSync(join(root, 'src/gone.txt'), 'utf8')).toBe('gone\n')
  expect(existsSync(join(root, 'new file [x].txt'))).toBe(false)
  expect(lstatSync(join(root, 'dir')).isDirectory()).toBe(true)
  expect(readFileSync(join(root, 'dir/inner.txt'), 'utf8')).toBe('inner\n')
  expect(readFileSync(join(root, 'keep.txt'), 'utf8')).toBe('new\n')
  expect(await tree.changes(before, await tree.take())).toEqual(['keep.txt'])
})

test('a patch holds binary content, modes, links and missing newlines, and applies fully or not at all', async () => {
  const { fixture, root, tree } = await project({ 'a.txt': 'one\ntwo', 'b.txt': 'b\n' })
  const before = await tree.take()
  await fixture.writeFile('app/a.txt', 'one\nthree')
  await fixture.writeFile('app/bin.dat', Buffer.from([0, 1, 2, 255, 0]))
  await fixture.rm('app/b.txt')
  symlinkSync('a.txt', join(root, 'link'))
  const after = await tree.take()
  const patch = await tree.patch(before, after)
  await tree.putBack(before, await tree.changes(before, after))
  expect(existsSync(join(root, 'bin.dat'))).toBe(false)
  expect(await tree.apply(patch)).toBeNull()
  expect(await tree.take()).toBe(after)
  expect(readlinkSync(join(root, 'link'))).toBe('a.txt')
  expect(await tree.apply(patch)).toContain('patch')
  expect(await tree.take()).toBe(after)
})

test('line ends that git changes are restored, and a patch with those of git applies', async () => {
  const { fixture, root, tree } = await project({ 'a.txt': 'one\r\ntwo\r\n' }, ['core.autocrlf', 'true'])
  const before = await tree.take()
  await fixture.writeFile('app/a.txt', 'one\r\nthree\r\n')
  const patch = await tree.patch(before, await tree.take())
  expect(patch.toString()).not.toContain('\r')
  await tree.putBack(before, ['a.txt'])
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
  expect(await tree.apply(patch)).toBeNull()
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\r\nthree\r\n')
})

test('a submodule and a very long file have no text', async () => {
  const { root, tree } = await project({ 'a.txt': 'one\n', long: ' '.repeat(2 ** 23), 'inner/b.txt': 'b\n' })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@example.com', ...args], {
      cwd: join(root, 'inner'),
    })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Start')
  const { paths, read } = await tree.texts(await tree.take())
  expect([...paths]).toEqual(['a.txt', 'inner', 'long'])
  expect(await Promise.all(['a.txt', 'inner', 'none', 'long'].map(read))).toEqual(['one\n', '', '', ''])
})

async function project(files: Record<string, string>, setting: readonly string[] = []) {
  const named = Object.entries(files).map(([name, text]) => [`app/${name}`, text])
  const fixture = await createFixture(Object.fromEntries(named))
  fixtures.push(fixture)
  const root = fixture.getPath('app')
  if (setting.length > 0) {
    execFileSync('git', ['init', '-q'], { cwd: root })
    execFileSync('git', ['config', ...setting], { cwd: root })
  }
  const tree = await openTree({ dir: fixture.getPath('shadow.git'), root, leaveOut: [], env: process.env })
  return { fixture, root, tree }
}
