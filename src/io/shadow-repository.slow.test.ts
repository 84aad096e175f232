import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { realPath } from './resolve-links.ts'
import { openShadowRepository } from './shadow-repository.ts'

async function lab(isRepository: boolean) {
  const fixture = await createFixture({
    'work/a.txt': 'a\n',
    'work/deep/b.txt': 'b\n',
    'work/.gitignore': 'ignored\n',
    'home/keep': '',
  })
  const top = realPath(fixture.path)
  const root = join(top, 'work')
  const env = { PATH: process.env.PATH ?? '', HOME: join(top, 'home') }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' })
  if (isRepository) {
    git('init', '--quiet')
    git('add', '.')
    git('-c', 'user.name=n', '-c', 'user.email=e@example.com', 'commit', '--quiet', '-m', 'Start')
  }
  const open = (leaveOut: readonly string[] = []) =>
    openShadowRepository({ dir: join(top, 'shadow.git'), root, leaveOut, env })
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { fixture, top, root, env, git, open, write }
}

describe.each([
  ['a repository', true],
  ['a directory without git', false],
])('in %s', (_, isRepository) => {
  test('a git that was killed does not block the next one', async () => {
    const { fixture, top, open, write } = await lab(isRepository)
    await using _ = fixture
    const before = await (await open()).take()
    writeFileSync(join(top, 'shadow.git/index.lock'), '')
    write('new.txt', 'new\n')
    expect(await (await open()).take()).not.toBe(before)
  })

  test('every change is seen, and nothing that is ignored, left out or a byproduct', async () => {
    const { fixture, root, open, write } = await lab(isRepository)
    await using _ = fixture
    const shadow = await open(['.harness', 'exact*name'])
    const before = await shadow.take()
    expect(await shadow.take()).toBe(before)
    write('new.txt', 'new\n')
    write('deep/b.txt', 'changed\n')
    rmSync(join(root, 'a.txt'))
    symlinkSync('/nowhere', join(root, 'link'))
    for (const path of [
      'ignored',
      '.harness/state.json',
      'node_modules/x/i.js',
      'deep/node_modules/y.js',
      'm.pyc',
      'exact*name',
    ])
      write(path, 'x')
    write('exactly-this-name', 'x')
    const after = await shadow.take()
    expect(await shadow.changes(before, after)).toEqual([
      'a.txt',
      'deep/b.txt',
      'exactly-this-name',
      'link',
      'new.txt',
    ])
    const diff = await shadow.diff(before, after, 1_000_000)
    expect(diff).toContain('+changed\n')
    expect(diff).toContain('deleted file mode')
  })

  test('the diff of texts has lines that git takes as binary', async () => {
    const { fixture, open, write } = await lab(isRepository)
    await using _ = fixture
    const shadow = await open()
    const before = await shadow.take()
    write('.gitattributes', '*.js -diff\n')
    write('a.js', 'exit()\n')
    write('b.c', 'exit() /* \0 */\n')
    write('image.png', '\0')
    const after = await shadow.take()
    expect(await shadow.diff(before, after, 1_000_000)).not.toContain('+exit()')
    const diff = await shadow.diff(before, after, 1_000_000, ['a.js', 'b.c'])
    expect(diff.match(/^\+exit/gm)).toHaveLength(2)
    expect(diff).not.toContain('image')
  })

  test('it goes on where another process left it', async () => {
    const { fixture, open, write } = await lab(isRepository)
    await using _ = fixture
    const before = await (await open()).take()
    write('deep/c.txt', 'c\n')
    const again = await open()
    expect(await again.changes(before, await again.take())).toEqual(['deep/c.txt'])
  })
})

test('the project’s own repository is not touched, whatever is staged in it', async () => {
  const { fixture, root, git, open, write } = await lab(true)
  await using _ = fixture
  write('staged.txt', 'staged\n')
  git('add', 'staged.txt')
  const state = () => [
    readFileSync(join(root, '.git/index')),
    git('count-objects', '-v'),
    git('status', '--porcelain'),
  ]
  const before = state()
  const shadow = await open()
  const one = await shadow.take()
  write('more.txt', 'more\n')
  await shadow.changes(one, await shadow.take())
  rmSync(join(root, 'more.txt'))
  expect(state()).toEqual(before)
})

test('nothing an agent writes into settings or attributes is run', async () => {
  const { fixture, top, root, git, open, write } = await lab(true)
  await using _ = fixture
  const trap = join(top, 'trap.sh')
  writeFileSync(trap, `#!/bin/sh\ntouch ${join(top, 'sprung')}\ncat\n`)
  chmodSync(trap, 0o755)
  for (const key of [
    'filter.x.clean',
    'filter.x.process',
    'core.fsmonitor',
    'diff.x.command',
    'diff.x.textconv',
    'diff.external',
  ])
    git('config', key, trap)
  write('.gitattributes', '* filter=x diff=x\n')
  const shadow = await open()
  const before = await shadow.take()
  write('a.txt', 'other\n')
  await shadow.diff(before, await shadow.take(), 1000)
  expect(() => readFileSync(join(top, 'sprung'))).toThrow()
  expect(root).toBeTruthy()
})

test('a repository inside that has no commit does not stop it', async () => {
  const { fixture, root, env, open, write } = await lab(true)
  await using _ = fixture
  const shadow = await open()
  const before = await shadow.take()
  mkdirSync(join(root, 'inner'))
  execFileSync('git', ['init', '--quiet'], { cwd: join(root, 'inner'), env })
  write('beside.txt', 'x\n')
  expect(await shadow.changes(before, await shadow.take())).toEqual(['beside.txt'])
})

test('without git it is said what is missing', async () => {
  const { fixture, top, root } = await lab(false)
  await using _ = fixture
  const env = { PATH: join(top, 'home') }
  await expect(openShadowRepository({ dir: join(top, 's'), root, leaveOut: [], env })).rejects.toThrow(
    /git cannot/,
  )
})
