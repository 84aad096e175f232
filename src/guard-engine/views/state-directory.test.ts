import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { historyFold } from '../history/index.ts'
import { ownPaths } from '../seal/own-paths.ts'
import { stateDirectory, stateDirProblem, viewsBelow } from './state-directory.ts'
import { stateView } from './write-views.ts'

async function project(files: Record<string, string> = {}) {
  const fixture = await createFixture({ 'app/src/index.ts': 'x', 'app/.git/hooks/keep': '', ...files })
  const top = realpathSync(fixture.path)
  return { fixture, top, root: join(top, 'app') }
}

test('a directory of the project is used whether it is there or not, and known by where it lies', async () => {
  const { fixture, root } = await project({ 'app/empty/.gitignore': '*\n' })
  await using _ = fixture
  for (const [name, below] of [
    ['.harness', '.harness'],
    ['./out//views/', 'out/views'],
    ['src/../views', 'views'],
    ['empty', 'empty'],
    [join(root, 'views'), 'views'],
  ] as const)
    expect(stateDirectory(root, name), name).toEqual({ kind: 'usable', path: join(root, below), below })
})

test.each([
  ['.', 'it is the project itself'],
  ['src/..', 'it is the project itself'],
  ['..', 'the project is in it'],
  ['/', 'the project is in it'],
  ['.git', 'it is git’s own'],
  ['.git/hooks', 'it is git’s own'],
  ['.GIT/views', 'it is git’s own'],
  ['src/.git', 'it is git’s own'],
  ['src', 'it holds files that are not the guard’s'],
  ['src/index.ts', 'it holds files that are not the guard’s'],
  ['../other/.git/hooks', 'it is git’s own'],
])('%s is no directory for views', async (name, reason) => {
  const { fixture, root } = await project()
  await using _ = fixture
  const where = stateDirectory(root, name)
  expect(where.kind === 'refused' && where.reason).toMatch(
    reason === 'it is the project itself' ? /the project/ : reason,
  )
  expect(viewsBelow(root, name)).toEqual([])
})

test('a link leads out of the project for nobody, into git for nobody, and to another directory of it only when that is for views', async () => {
  const { fixture, top, root } = await project({ 'elsewhere/keep': '' })
  await using _ = fixture
  mkdirSync(join(root, 'views'))
  for (const [name, target] of [
    ['out', join(top, 'elsewhere')],
    ['hooks', '.git/hooks'],
    ['.harness', 'src'],
    ['fine', 'views'],
  ] as const)
    symlinkSync(target, join(root, name))
  for (const name of ['out', 'out/deeper', 'hooks', '.harness', join(root, 'out')])
    expect(stateDirectory(root, name), name).toMatchObject({ kind: 'refused' })
  expect(stateDirectory(root, 'fine')).toMatchObject({ kind: 'usable', below: 'views' })
})

test('a directory elsewhere is used where the user names it, and one that comes back into the project is one of the project', async () => {
  const { fixture, top, root } = await project()
  await using _ = fixture
  const out = join(top, 'views')
  expect(stateDirectory(root, out)).toEqual({ kind: 'usable', path: out, below: null })
  expect(stateDirectory(root, '../views')).toEqual({ kind: 'usable', path: out, below: null })
  symlinkSync(join(root, '.git'), join(top, 'link'))
  expect(stateDirectory(root, join(top, 'link/views'))).toMatchObject({ kind: 'refused' })
  symlinkSync(root, join(top, 'again'))
  expect(stateDirectory(root, join(top, 'again/views'))).toMatchObject({ kind: 'usable', below: 'views' })
})

test('a directory the guard has used stays one, whatever else came into it', async () => {
  const state = JSON.stringify(stateView(historyFold.initial))
  const { fixture, root } = await project({ 'app/views/state.json': state, 'app/views/mine.txt': 'x' })
  await using _ = fixture
  expect(stateDirectory(root, 'views')).toMatchObject({ kind: 'usable' })
  writeFileSync(join(root, 'views/state.json'), '{"mine":true}')
  expect(stateDirectory(root, 'views')).toMatchObject({ kind: 'refused' })
  chmodSync(join(root, 'views'), 0o000)
  expect(() => stateDirectory(root, 'views')).not.toThrow()
  chmodSync(join(root, 'views'), 0o700)
})

test('the guard’s own is the directory it uses, and never the project or git because the settings say so', async () => {
  const { fixture, top, root } = await project()
  await using _ = fixture
  const own = (stateDir: string) =>
    ownPaths({
      root,
      home: join(top, 'home'),
      env: {},
      guardHome: join(top, 'guard'),
      hookBin: null,
      agentFiles: [],
      stateDir,
    })
  expect(own('views')).toContain(join(root, 'views'))
  expect(own('views')).toContain(join(root, '.harness'))
  for (const name of ['.', '..', '/', 'src', '.git']) {
    expect(own(name), name).not.toContain(root)
    expect(own(name), name).not.toContain(join(root, name))
  }
})

test.each<[string, RegExp | null]>([
  ['.harness', null],
  ['a/../b', null],
  ['/tmp/views', /must be relative/],
  ['../views', /must not lead out/],
  ['a/../../app/views', /must not lead out/],
  ['.', /not the project itself/],
  ['a/..', /not the project itself/],
  ['.git', /git’s own/],
  ['.Git/hooks', /git’s own/],
])('a file of the project names %s', (name, problem) => {
  if (problem === null) expect(stateDirProblem(name)).toBeNull()
  else expect(stateDirProblem(name)).toMatch(problem)
})
