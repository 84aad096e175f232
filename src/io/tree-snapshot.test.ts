import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { asPlainUser } from '../../test/as-plain-user.ts'
import type { WorkspaceDelta } from '../gates/contract.ts'
import { diffSnapshots, snapshotTree } from './tree-snapshot.ts'

let base = ''
let dir = ''
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-snapshot-'))
  chmodSync(base, 0o755)
})
afterAll(() => rmSync(base, { recursive: true }))
beforeEach(() => {
  dir = mkdtempSync(join(base, 'w-'))
  chmodSync(dir, 0o755)
})

test('reports created, changed and deleted files, sorted, and only empty directories', () => {
  put({ 'keep.txt': 'k', 'src/a': '1', 'src/gone': '2', 'z/only': '3' })
  mkdirSync(join(dir, 'was-empty'))
  const before = snapshotTree(dir)
  put({ 'src/a': '2', 'new/deep/f': 'x', 'was-empty/now': 'y' })
  rmSync(join(dir, 'src/gone'))
  rmSync(join(dir, 'z/only'))
  mkdirSync(join(dir, 'fresh'))
  const delta: WorkspaceDelta = diffSnapshots(before, snapshotTree(dir))
  expect(delta).toEqual({
    created: ['fresh', 'new/deep/f', 'was-empty/now'],
    changed: ['src/a'],
    deleted: ['src/gone', 'z/only'],
  })
})

test('an edit of the same size with a restored time is detected, a touched file is not', () => {
  put({ a: 'one', b: 'one' })
  const before = snapshotTree(dir)
  const { atime, mtime } = statSync(join(dir, 'a'))
  put({ a: 'two' })
  utimesSync(join(dir, 'a'), atime, mtime)
  utimesSync(join(dir, 'b'), 1, 1)
  expect(diffSnapshots(before, snapshotTree(dir)).changed).toEqual(['a'])
})

test('links count by their target and are never followed; a mode and a kind count', () => {
  put({ real: 'r', mode: 'm', kind: 'k' })
  symlinkSync('real', join(dir, 'link'))
  symlinkSync(base, join(dir, 'out'))
  const before = snapshotTree(dir)
  put({ real: 'changed' })
  chmodSync(join(dir, 'mode'), 0o755)
  rmSync(join(dir, 'kind'))
  mkdirSync(join(dir, 'kind'))
  expect(diffSnapshots(before, snapshotTree(dir)).changed).toEqual(['kind', 'mode', 'real'])
  rmSync(join(dir, 'link'))
  symlinkSync('mode', join(dir, 'link'))
  expect(diffSnapshots(before, snapshotTree(dir)).changed).toEqual(['kind', 'link', 'mode', 'real'])
})

test('a file that took a directory’s place is created, and what was in the directory deleted', () => {
  put({ 'd/f': '1' })
  const before = snapshotTree(dir)
  rmSync(join(dir, 'd'), { recursive: true })
  put({ d: 'file' })
  expect(diffSnapshots(before, snapshotTree(dir))).toEqual({ created: ['d'], changed: [], deleted: ['d/f'] })
})

test('excluded paths are ignored', () => {
  put({ '.git/x': '1', a: '1', 'sub/.git/x': '1' })
  const taken = snapshotTree(dir, { exclude: (path, isDirectory) => isDirectory && path === '.git' })
  expect([...taken.keys()].sort()).toEqual(['a', 'sub/.git/x'])
})

test('against an earlier snapshot a huge new file is not read, and the difference is the same', () => {
  put({ a: '1', b: '2' })
  const before = snapshotTree(dir)
  put({ b: '3' })
  writeFileSync(join(dir, 'huge'), '')
  truncateSync(join(dir, 'huge'), 2 ** 40)
  const after = snapshotTree(dir, { against: before })
  expect(diffSnapshots(before, after)).toEqual({ created: ['huge'], changed: ['b'], deleted: [] })
})

test('FIFOs do not hang it, unreadable things and odd names do not break it', () => {
  put({ 'locked/f': 'x', secret: 's' })
  const before = snapshotTree(dir)
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(dir, 'pipe')])
  writeFileSync(Buffer.from(`${dir}/\xfe`, 'latin1'), '')
  writeFileSync(Buffer.from(`${dir}/\xff`, 'latin1'), '')
  writeFileSync(join(dir, 'new\nline'), '')
  chmodSync(join(dir, 'secret'), 0o000)
  chmodSync(join(dir, 'locked'), 0o000)
  const after = asPlainUser(() => snapshotTree(dir))
  expect(diffSnapshots(before, after)).toMatchObject({
    created: ['\\xfe', '\\xff', 'new\nline', 'pipe'],
    changed: ['secret'],
    deleted: process.geteuid?.() === undefined ? [] : ['locked/f'],
  })
  chmodSync(join(dir, 'locked'), 0o755)
})

test('any two sets of files differ by exactly what their contents say', () => {
  const files = fc.dictionary(
    fc.constantFrom('a', 'b', 'c/d', 'c/e', 'f/g/h'),
    fc.constantFrom('', 'x', 'y', 'xx'),
  )
  fc.assert(
    fc.property(files, files, (first, second) => {
      const at = (content: Record<string, string>) => {
        dir = mkdtempSync(join(base, 'p-'))
        put(content)
        return dir
      }
      const [one, two] = [snapshotTree(at(first)), snapshotTree(at(second))]
      const expected = {
        created: Object.keys(second).filter((path) => !(path in first)),
        changed: Object.keys(second).filter((path) => path in first && first[path] !== second[path]),
        deleted: Object.keys(first).filter((path) => !(path in second)),
      }
      const sorted = Object.fromEntries(Object.entries(expected).map(([key, paths]) => [key, paths.sort()]))
      expect(diffSnapshots(one, two)).toEqual(sorted)
      expect(diffSnapshots(one, snapshotTree(dir, { against: one }))).toEqual(sorted)
    }),
    { numRuns: 60 },
  )
})

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}
