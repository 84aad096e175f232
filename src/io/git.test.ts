import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gitInfo } from './git.ts'

let base = ''
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-git-')))
})
afterAll(() => rmSync(base, { recursive: true }))

test('root, commit and whether anything is uncommitted, from any directory inside', async () => {
  const root = repository('plain')
  mkdirSync(join(root, 'sub'))
  expect(await gitInfo(root)).toEqual({ root, commit: null, dirty: false })
  writeFileSync(join(root, 'sub/f'), 'x')
  expect(await gitInfo(root)).toEqual({ root, commit: null, dirty: true })
  commit(root)
  const head = git(root, 'rev-parse', 'HEAD')
  expect(await gitInfo(join(root, 'sub'))).toEqual({ root, commit: head, dirty: false })
  writeFileSync(join(root, 'sub/f'), 'y')
  expect(await gitInfo(root)).toEqual({ root, commit: head, dirty: true })
  git(root, 'worktree', 'add', '-q', join(base, 'worktree'))
  expect(await gitInfo(join(base, 'worktree'))).toEqual({
    root: join(base, 'worktree'),
    commit: head,
    dirty: false,
  })
})

test('no repository, an empty directory named .git, and a missing git give null', async () => {
  mkdirSync(join(base, 'none/.git'), { recursive: true })
  expect(await gitInfo(join(base, 'none'))).toBeNull()
  writeFileSync(join(base, 'none/.git/HEAD'), 'garbage')
  expect(await gitInfo(join(base, 'none'))).toBeNull()
  const root = repository('unreachable')
  const { PATH } = process.env
  process.env.PATH = join(base, 'nowhere')
  try {
    expect(await gitInfo(root)).toBeNull()
  } finally {
    process.env.PATH = PATH
  }
})

test('GIT_ variables of a surrounding process are ignored', async () => {
  const root = repository('inner')
  process.env.GIT_DIR = join(repository('outer'), '.git')
  process.env.GIT_WORK_TREE = base
  try {
    expect(await gitInfo(root)).toMatchObject({ root })
  } finally {
    delete process.env.GIT_DIR
    delete process.env.GIT_WORK_TREE
  }
})

test('no program named by the repository is started', async () => {
  const root = repository('hostile')
  const mark = join(base, 'sprung')
  writeFileSync(join(root, 'trap'), `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 })
  writeFileSync(join(root, '.gitattributes'), '* filter=a=b\n')
  writeFileSync(join(root, 'f'), 'x')
  commit(root)
  git(root, 'config', 'filter.a=b.clean', join(root, 'trap'))
  git(root, 'config', 'core.fsmonitor', join(root, 'trap'))
  writeFileSync(join(root, 'f'), 'y')
  expect(await gitInfo(root)).toMatchObject({ dirty: true })
  expect(existsSync(mark)).toBe(false)
})

function repository(name: string): string {
  const root = join(base, name)
  mkdirSync(root)
  git(root, 'init', '-q')
  return root
}

function commit(root: string): void {
  git(root, 'add', '-A')
  git(root, '-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'x')
}

function git(cwd: string, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim()
}
