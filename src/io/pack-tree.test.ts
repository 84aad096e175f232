import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { packTree, unpackTree } from './pack-tree.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { snapshotTree } from './tree-snapshot.ts'

test('a tree is the same afterwards: modes, links wherever they lead, empty directories, odd names', () => {
  using lab = temporaryDirectory('gantry-pack-')
  const from = join(lab.path, 'from')
  mkdirSync(join(from, 'a/empty'), { recursive: true })
  mkdirSync(join(from, 'a/closed'))
  writeFileSync(join(from, 'a/run.sh'), 'x', { mode: 0o755 })
  writeFileSync(join(from, 'größe 日本'), Buffer.from([0, 10, 255]))
  writeFileSync(Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0x66, 0xff])]), 'not UTF-8')
  writeFileSync(join(from, 'shared'), 'y')
  chmodSync(join(from, 'shared'), 0o666)
  writeFileSync(join(from, 'a/closed/x'), 'y')
  chmodSync(join(from, 'a/closed'), 0o555)
  symlinkSync('/usr/bin/python3', join(from, 'a/python'))
  symlinkSync('nowhere', join(from, 'dangling'))
  const to = join(lab.path, 'to')
  unpackTree(packTree(from), to)
  expect(snapshotTree(to)).toEqual(snapshotTree(from))
  expect(readlinkSync(join(to, 'a/python'))).toBe('/usr/bin/python3')
  expect(lstatSync(join(to, 'a/closed')).mode & 0o777).toBe(0o555)
  for (const dir of [from, to]) chmodSync(join(dir, 'a/closed'), 0o755)
})

const entry = (fields: object, content = ''): string => `${JSON.stringify(fields)}\n${content}`
const link = entry({ path: 'out', kind: 'link', mode: 0, bytes: 4 }, '/tmp')

test.each([
  ['a path upward', entry({ path: '../x', kind: 'file', mode: 420, bytes: 1 }, 'x')],
  ['an absolute path', entry({ path: '/x', kind: 'file', mode: 420, bytes: 1 }, 'x')],
  ['a path through a link', `${link}${entry({ path: 'out/x', kind: 'file', mode: 420, bytes: 1 }, 'x')}`],
  ['a directory that is missing', entry({ path: 'a/x', kind: 'file', mode: 420, bytes: 1 }, 'x')],
  ['less content than it names', entry({ path: 'x', kind: 'file', mode: 420, bytes: 5 }, 'x')],
  ['an unknown kind', entry({ path: 'x', kind: 'device', mode: 420, bytes: 0 })],
  ['no entry', 'hello'],
])('%s is refused', (_what, text) => {
  using lab = temporaryDirectory('gantry-pack-')
  expect(() => unpackTree(gzipSync(text), join(lab.path, 'to'))).toThrow('the archive of to is damaged')
  expect(() => readFileSync(join(lab.path, 'x'))).toThrow('ENOENT')
})

test('bytes that are not an archive are refused', () => {
  using lab = temporaryDirectory('gantry-pack-')
  expect(() => unpackTree(Buffer.from('text'), join(lab.path, 'to'))).toThrow('is damaged')
})
