import { mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { openWorkspace } from './live-claude.ts'
import { forgetMemories } from './make-attempt.ts'

test('a reset restores files, directories, links and modes', async () => {
  await using fixture = await createFixture({ 'template/a.txt': 'a', 'template/sub/b.txt': 'b', work: {} })
  symlinkSync('a.txt', fixture.getPath('template/link'))
  const workspace = await openWorkspace(fixture.getPath('work'), fixture.getPath('template'))
  expect(await workspace.putBack()).toEqual([])
  const at = (path: string) => join(workspace.dir, path)
  writeFileSync(at('a.txt'), 'changed')
  rmSync(at('sub'), { recursive: true })
  rmSync(at('link'))
  symlinkSync('/etc', at('out'))
  mkdirSync(at('empty'))
  mkdirSync(at('new/deep'), { recursive: true })
  writeFileSync(at('new/deep/c.txt'), 'c')
  expect(await workspace.putBack()).toEqual(['a.txt', 'empty', 'link', 'new/deep/c.txt', 'out', 'sub/b.txt'])
  expect(readlinkSync(at('link'))).toBe('a.txt')
  expect(await workspace.putBack()).toEqual([])
})

test('changes are counted from the agent’s start, without those of git itself', async () => {
  await using fixture = await createFixture({ work: {} })
  const workspace = await openWorkspace(fixture.getPath('work'), null)
  expect(workspace.write({ 'given/a.txt': 'a', 'b.txt': 'b' })).toBeNull()
  mkdirSync(join(workspace.dir, '.git'))
  workspace.mark()
  writeFileSync(join(workspace.dir, 'b.txt'), 'other')
  rmSync(join(workspace.dir, 'given/a.txt'))
  writeFileSync(join(workspace.dir, 'c.txt'), '')
  writeFileSync(join(workspace.dir, '.git/index'), '')
  expect(workspace.changes()).toEqual(
    [
      { path: 'c.txt', kind: 'created' },
      { path: 'given', kind: 'created' },
      { path: 'b.txt', kind: 'modified' },
      { path: 'given/a.txt', kind: 'deleted' },
    ].filter(({ path }) => path !== 'given'),
  )
  expect(await workspace.putBack()).toContain('c.txt')
  expect(await workspace.putBack()).toEqual([])
})

test('a file of a scenario stays inside, even through a link', async () => {
  await using fixture = await createFixture({ 'template/x': '', work: {}, outside: {} })
  const workspace = await openWorkspace(fixture.getPath('work'), fixture.getPath('template'))
  symlinkSync(fixture.getPath('outside'), join(workspace.dir, 'way'))
  expect(workspace.write({ 'way/a.txt': 'x' })).toContain('the link way leads to')
  expect(workspace.write({ '/etc/a.txt': 'x' })).toContain('absolute')
})

test('a workspace that was removed or replaced by a link is lost', async () => {
  await using fixture = await createFixture({ work: {}, other: {} })
  const workspace = await openWorkspace(fixture.getPath('work'), null)
  expect(workspace.isLost()).toBe(false)
  rmSync(workspace.dir, { recursive: true })
  symlinkSync(fixture.getPath('other'), workspace.dir)
  expect(workspace.isLost()).toBe(true)
})

test('notes are deleted, and links are not followed', async () => {
  await using fixture = await createFixture({
    'home/.claude/projects/-work/memory/MEMORY.md': 'note',
    'home/.claude/projects/-work/session.jsonl': '{}',
    'home/.claude/projects/file.txt': '',
    'mine/memory/kept.md': 'kept',
    'mine/kept.md': 'kept',
  })
  symlinkSync(fixture.getPath('mine'), fixture.getPath('home/.claude/projects/evil'))
  mkdirSync(fixture.getPath('home/.claude/projects/sly'))
  symlinkSync(fixture.getPath('mine'), fixture.getPath('home/.claude/projects/sly/memory'))
  forgetMemories(fixture.getPath('home'))
  forgetMemories(fixture.getPath('nowhere'))
  expect(await fixture.exists('home/.claude/projects/-work/memory/MEMORY.md')).toBe(false)
  expect(await fixture.exists('home/.claude/projects/-work/session.jsonl')).toBe(true)
  expect(await fixture.exists('mine/memory/kept.md')).toBe(true)
  expect(await fixture.exists('mine/kept.md')).toBe(true)
})
