import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepGuarded, putGuardedBack } from './put-back.ts'

let top = ''
let root = ''
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-guarded-')))
  root = join(top, 'repo')
  for (const place of ['hooks', 'info', 'objects', 'refs'])
    mkdirSync(join(root, '.git', place), { recursive: true })
  put('.git/HEAD', 'ref: refs/heads/main\n')
  put('.git/config', '[core]\n\tbare = false\n')
  put('.git/info/exclude', '*.tmp\n')
  put('.git/hooks/pre-push', '#!/bin/sh\n')
  put('agent.yaml', 'verification: {}\n')
  writeFileSync(join(top, 'evil'), '#!/bin/sh\n')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const put = (path: string, text: string): void => writeFileSync(join(root, path), text)
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

function tampered(tamper: () => void): readonly string[] {
  const before = keepGuarded(root)
  tamper()
  const restored = putGuardedBack(root, JSON.parse(JSON.stringify(before)))
  expect(keepGuarded(root)).toEqual(before)
  expect(restored.filter(({ isLeft }) => isLeft)).toEqual([])
  return restored.map(({ path }) => path)
}

test('an unchanged repository reports nothing', () => {
  expect(tampered(() => undefined)).toEqual([])
})

test('a hook that links out of the repository is removed, and its target stays', () => {
  const restored = tampered(() => symlinkSync(join(top, 'evil'), join(root, '.git/hooks/pre-commit')))
  expect(restored).toEqual(['.git/hooks/pre-commit'])
  expect(existsSync(join(top, 'evil'))).toBe(true)
})

test('a configuration replaced by a link out of the repository is restored', () => {
  const restored = tampered(() => {
    rmSync(join(root, '.git/config'))
    symlinkSync(join(top, 'evil'), join(root, '.git/config'))
  })
  expect(restored).toEqual(['.git/config'])
  expect(text('.git/config')).toContain('bare = false')
  expect(readFileSync(join(top, 'evil'), 'utf8')).toBe('#!/bin/sh\n')
})

test('a hooks directory replaced by a link is restored with its content', () => {
  mkdirSync(join(top, 'others'))
  writeFileSync(join(top, 'others/post-commit'), '')
  const restored = tampered(() => {
    rmSync(join(root, '.git/hooks'), { recursive: true })
    symlinkSync(join(top, 'others'), join(root, '.git/hooks'))
  })
  expect(restored).toEqual(['.git/hooks', '.git/hooks/pre-push'])
  expect(existsSync(join(top, 'others/post-commit'))).toBe(true)
})

test('ignored files, the location of the configuration, binary content and modes are restored', () => {
  put('.git/hooks/pre-push', '\u00ff')
  chmodSync(join(root, '.git/hooks/pre-push'), 0o644)
  writeFileSync(join(root, '.git/hooks/update'), Buffer.from([0, 255, 254]))
  const restored = tampered(() => {
    put('.git/info/exclude', '*\n')
    put('.git/info/attributes', '* filter=x\n')
    put('.git/commondir', `${top}\n`)
    put('.git/config.worktree', '')
    writeFileSync(join(root, '.git/hooks/update'), Buffer.from([1, 255, 254]))
    chmodSync(join(root, '.git/hooks/pre-push'), 0o755)
  })
  expect(restored).toHaveLength(6)
  expect(statSync(join(root, '.git/hooks/pre-push')).mode & 0o111).toBe(0)
})

test('a pipe in place of agent.yaml does not block', () => {
  const restored = tampered(() => {
    rmSync(join(root, 'agent.yaml'))
    execFileSync('mkfifo', [join(root, 'agent.yaml')])
  })
  expect(restored).toEqual(['agent.yaml'])
  expect(lstatSync(join(root, 'agent.yaml')).isFile()).toBe(true)
})

test('a linked worktree points to its repository again, whose hooks and configuration are restored', () => {
  const main = join(top, 'main.git')
  renameSync(join(root, '.git'), main)
  mkdirSync(join(main, 'worktrees/repo'), { recursive: true })
  writeFileSync(join(main, 'worktrees/repo/commondir'), '../..\n')
  put('.git', `gitdir: ${main}/worktrees/repo\n`)
  const restored = tampered(() => {
    put('.git', `gitdir: ${top}\n`)
    writeFileSync(join(main, 'config'), '[core]\n\thooksPath = /\n')
    writeFileSync(join(main, 'hooks/pre-commit'), '')
    writeFileSync(join(main, 'worktrees/repo/commondir'), `${top}\n`)
  })
  expect(new Set(restored)).toEqual(
    new Set([
      '.git',
      '../main.git/worktrees/repo/commondir',
      '../main.git/config',
      '../main.git/hooks/pre-commit',
    ]),
  )
})

test('hooks of submodules are restored too', () => {
  const place = join(root, '.git/modules/libs/one')
  mkdirSync(join(place, 'hooks'), { recursive: true })
  writeFileSync(join(place, 'HEAD'), '')
  writeFileSync(join(place, 'config'), '')
  const restored = tampered(() => {
    writeFileSync(join(place, 'config'), '[core]\n\tfsmonitor = x\n')
    writeFileSync(join(place, 'hooks/pre-commit'), '')
  })
  expect(restored).toEqual(['.git/modules/libs/one/config', '.git/modules/libs/one/hooks/pre-commit'])
})

test('a deleted .git is reported and not partly recreated', () => {
  const before = keepGuarded(root)
  rmSync(join(root, '.git'), { recursive: true })
  expect(putGuardedBack(root, before)).toMatchObject([{ path: '.git', isLeft: true }])
  expect(existsSync(join(root, '.git'))).toBe(false)
})
