import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { historyFold } from '../history/index.ts'
import { guardedPaths } from '../seal/guarded-paths.ts'
import { mayReplace, stateDirectory, stateDirProblem, viewsBelow, viewsProblem } from './state-directory.ts'
import { stateView } from './write-views.ts'

async function project(files: Record<string, string> = {}) {
  const fixture = await createFixture({ 'app/src/index.ts': 'x', 'app/.git/hooks/keep': '', ...files })
  const top = realpathSync(fixture.path)
  return { fixture, top, root: join(top, 'app') }
}

test('a directory of the project is used whether it exists or not, and reported relative to the project', async () => {
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
  ['.git', 'it belongs to git'],
  ['.git/hooks', 'it belongs to git'],
  ['.GIT/views', 'it belongs to git'],
  ['src/.git', 'it belongs to git'],
  ['src', 'it contains files that do not belong to the guard'],
  ['src/index.ts', 'it contains files that do not belong to the guard'],
  ['../other/.git/hooks', 'it belongs to git'],
])('%s is not accepted for views', async (name, reason) => {
  const { fixture, root } = await project()
  await using _ = fixture
  const where = stateDirectory(root, name)
  expect(where.kind === 'refused' && where.reason).toMatch(
    reason === 'it is the project itself' ? /the project/ : reason,
  )
  expect(viewsBelow(root, name)).toEqual([])
})

test('a link may not lead out of the project or into git, only to another directory for views', async () => {
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

test('a directory outside is used if the user names it, and one that leads back into the project counts as inside', async () => {
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

test('a directory that the guard has used stays usable, whatever is added to it', async () => {
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

test('the guard owns only the directory it uses, never the project or git', async () => {
  const { fixture, top, root } = await project()
  await using _ = fixture
  const own = (stateDir: string) =>
    guardedPaths({
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
  ['.git', /belong to git/],
  ['.Git/hooks', /belong to git/],
])('a file of the project names %s', (name, problem) => {
  if (problem === null) expect(stateDirProblem(name)).toBeNull()
  else expect(stateDirProblem(name)).toMatch(problem)
})

test.each(['{}', '{"phase":"idle","tasks_completed":0}', '{"verification_status":{"tests_run":true}}'])(
  'a state without a session is taken as empty: %s',
  (text) => {
    expect(mayReplace('state.json', { kind: 'text', text })).toBe(true)
  },
)

test('a declared command that is no known test runner counts as tests', () => {
  const run = {
    kind: 'other',
    command: 'sh test.sh',
    exitCode: 0,
    treeHash: 'T',
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1,
    by: 'agent',
  } as const
  const evidence = { ...historyFold.initial.evidence, byCommand: { 'sh test.sh': run } }
  const view = stateView({ ...historyFold.initial, evidence })
  expect(view.verification_status).toMatchObject({ tests_run: true, tests_passed: true, lint_run: false })
})

test('a template of state.json that would have no effect is reported, the original one is not', async () => {
  const original = JSON.stringify({
    session_id: null,
    phase: 'idle',
    verification_status: { tests_run: false },
  })
  const { fixture, root } = await project({ 'app/harness/templates/state.json.template': original })
  await using _ = fixture
  expect(viewsProblem(root, '.harness')).toBeNull()
  writeFileSync(join(root, 'harness/templates/state.json.template'), '{"sprint":7}')
  expect(viewsProblem(root, '.harness')).toMatch(/state\.json\.template is not used.*Remove the template/)
})
