import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { putOthersBack, type SavedFiles, saveOthers } from './other-files.ts'
import type { PutBack } from './put-back.ts'

let top = ''
let root = ''
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-others-')))
  root = join(top, 'repo')
  put('dist/add.js', 'old')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const text = (path: string): string => readFileSync(join(root, path), 'utf8')
const known = { tracked: new Map(), leaveOut: [] }
const save = (before: SavedFiles['saved'] = {}): Promise<SavedFiles> =>
  saveOthers(root, known, join(top, 'saved'), before)
const putBack = (before: SavedFiles): Promise<readonly PutBack[]> =>
  putOthersBack(root, before, known, {
    aside: join(top, 'aside'),
    place: join(top, 'saved'),
    layers: [join(top, 'layer')],
  })

test('build output is restored as old as it was, so a build still sees that its source is newer', async () => {
  utimesSync(join(root, 'dist/add.js'), 1_000, 1_000)
  const before = await save()
  put('dist/add.js', 'new')
  expect(await putBack(before)).toMatchObject([{ path: 'dist/add.js', isLeft: false }])
  expect(text('dist/add.js')).toBe('old')
  expect(statSync(join(root, 'dist/add.js')).mtimeMs).toBe(1_000_000)
})

test('large build output is restored, turn after turn', async () => {
  put('target/program', '')
  truncateSync(join(root, 'target/program'), 20 * 1024 * 1024)
  let before = await save()
  for (const turn of ['one', 'two']) {
    put('target/program', turn)
    rmSync(join(root, 'dist'), { recursive: true })
    expect((await putBack(before)).map(({ isLeft }) => isLeft)).toEqual([false, false])
    expect(statSync(join(root, 'target/program')).size).toBe(20 * 1024 * 1024)
    expect(text('dist/add.js')).toBe('old')
    before = await save(before.saved)
  }
})

test('a directory that became a link is restored, and what the link leads to is left alone', async () => {
  put('coverage/a.json', '{}')
  const before = await save()
  const outside = join(top, 'outside')
  mkdirSync(outside)
  for (const [name, directory] of [
    ['add.js', 'dist'],
    ['a.json', 'coverage'],
  ] as const) {
    writeFileSync(join(outside, name), 'mine')
    rmSync(join(root, directory), { recursive: true })
    symlinkSync(outside, join(root, directory))
  }
  expect((await putBack(before)).every(({ isLeft }) => !isLeft)).toBe(true)
  expect(text('dist/add.js')).toBe('old')
  for (const name of ['add.js', 'a.json']) expect(readFileSync(join(outside, name), 'utf8')).toBe('mine')
})

test('a link that git saves stays, and the files behind it count as changed', async () => {
  put('src/add.js', 'source')
  const before = await save()
  rmSync(join(root, 'dist'), { recursive: true })
  symlinkSync('src', join(root, 'dist'))
  const now = { tracked: new Map([['dist', { mode: '120000', id: '' }]]), leaveOut: [] }
  const done = await putOthersBack(root, before, now, { aside: top, place: join(top, 'saved'), layers: [] })
  expect(done).toMatchObject([{ path: 'dist/add.js', isLeft: true }])
  expect(text('src/add.js')).toBe('source')
})

test('what an ignored link leads to inside is judged by its own path, and the link by where it leads', async () => {
  put('packages/a/index.js', 'a')
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  symlinkSync('../packages/a', join(root, 'node_modules/a'))
  symlinkSync('../../packages/a/index.js', join(root, 'node_modules/.bin/a'))
  const tracked = new Map([['packages/a/index.js', { mode: '100644', id: '' }]])
  const now = { tracked: tracked.set('packages/a/more.js', { mode: '100644', id: '' }), leaveOut: [] }
  const places = { aside: top, place: join(top, 'saved'), layers: [] }
  const before = await saveOthers(root, now, places.place, {})
  put('packages/a/index.js', 'changed')
  put('packages/a/more.js', 'more')
  expect(await putOthersBack(root, before, now, places)).toEqual([])
  rmSync(join(root, 'node_modules/a'))
  symlinkSync('../dist', join(root, 'node_modules/a'))
  expect(await putOthersBack(root, before, now, places)).toMatchObject([
    { path: 'node_modules/a', isLeft: true },
  ])
})

test('a file of a submodule is put back, and its reason says so', async () => {
  put('sub/a.js', 'old')
  const now = { tracked: new Map([['sub', { mode: '160000', id: '' }]]), leaveOut: [] }
  const places = { aside: top, place: join(top, 'saved'), layers: [] }
  const before = await saveOthers(root, now, places.place, {})
  put('sub/a.js', 'new')
  expect(await putOthersBack(root, before, now, places)).toEqual([
    { path: 'sub/a.js', why: 'it is a file of a submodule, which a task does not change', isLeft: false },
  ])
  expect(text('sub/a.js')).toBe('old')
})

test('an installed file comes from the layer of setup, a new one is moved, a package that changed is left', async () => {
  put('node_modules/a/index.js', 'a')
  put('node_modules/b/index.js', 'b')
  mkdirSync(join(top, 'layer/workspace/node_modules/a'), { recursive: true })
  writeFileSync(join(top, 'layer/workspace/node_modules/a/index.js'), 'a')
  const before = await save()
  for (const path of ['node_modules/a/index.js', 'node_modules/b/index.js', 'new.log']) put(path, 'changed')
  expect(await putBack(before)).toMatchObject([
    { path: 'new.log', isLeft: false },
    { path: 'node_modules/a/index.js', isLeft: false },
    { path: 'node_modules/b/index.js', isLeft: true },
  ])
  expect(text('node_modules/a/index.js')).toBe('a')
  expect(existsSync(join(root, 'new.log'))).toBe(false)
})
