import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { asPlainUser } from '../../test/as-plain-user.ts'
import { copyTree } from './copy-tree.ts'
import { removeTree } from './files.ts'
import { diffSnapshots, snapshotTree } from './tree-snapshot.ts'

let base = ''
let from = ''
let to = ''
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-copy-'))
})
afterAll(() => removeTree(base))
beforeEach(() => {
  const dir = mkdtempSync(join(base, 't-'))
  from = join(dir, 'from')
  to = join(dir, 'deep/to')
  mkdirSync(from)
})

const nothing = { created: [], changed: [], deleted: [] }
const differences = () => diffSnapshots(snapshotTree(from), snapshotTree(to))

test('copies files, modes, empty directories, links and .git, and creates parents', async () => {
  put({
    'a.txt': 'a',
    'src/b.bin': 'b'.repeat(70_000),
    'src/exact': 'c'.repeat(65_536),
    '.git/HEAD': 'ref',
    zero: '',
  })
  writeFileSync(join(from, 'run.sh'), '#!/bin/sh', { mode: 0o755 })
  chmodSync(join(from, 'a.txt'), 0o666)
  chmodSync(join(from, 'zero'), 0o400)
  mkdirSync(join(from, 'empty/deeper'), { recursive: true })
  symlinkSync('src/b.bin', join(from, 'link'))
  symlinkSync('../a.txt', join(from, 'src/up'))
  symlinkSync('nowhere', join(from, 'dangling'))
  symlinkSync('.', join(from, 'self'))
  expect(await copyTree(from, to)).toEqual({ files: 6, warnings: [] })
  expect(differences()).toEqual(nothing)
})

test('the copy shares no inode with its source', async () => {
  put({ small: 'x', large: 'x'.repeat(200_000) })
  await copyTree(from, to)
  for (const name of ['small', 'large']) {
    expect(lstatSync(join(to, name)).nlink).toBe(1)
    writeFileSync(join(to, name), 'changed')
    expect(readFileSync(join(from, name), 'utf8')).not.toBe('changed')
  }
})

test('setuid, setgid and sticky bits are not copied', async () => {
  put({ tool: 'x', large: 'x'.repeat(100_000), 'dir/f': 'y' })
  chmodSync(join(from, 'tool'), 0o4755)
  chmodSync(join(from, 'large'), 0o6755)
  chmodSync(join(from, 'dir'), 0o3775)
  await copyTree(from, to)
  const modes = ['tool', 'large', 'dir'].map((name) => lstatSync(join(to, name)).mode & 0o7777)
  expect(modes).toEqual([0o755, 0o755, 0o775])
})

test('a read-only directory is filled and then made read-only', async () => {
  put({ 'locked/inner/f': 'x' })
  chmodSync(join(from, 'locked/inner'), 0o555)
  chmodSync(join(from, 'locked'), 0o555)
  await copyTree(from, to)
  expect(readFileSync(join(to, 'locked/inner/f'), 'utf8')).toBe('x')
  expect(lstatSync(join(to, 'locked')).mode & 0o777).toBe(0o555)
})

test.each([
  ['an absolute link', () => symlinkSync('/etc/passwd', join(from, 'bad'))],
  ['a relative link', () => symlinkSync('../outside', join(from, 'bad'))],
  ['a link that leaves and comes back', () => symlinkSync('../from/a', join(from, 'bad'))],
  [
    'a link through another link',
    () => {
      mkdirSync(join(from, 'sub'))
      symlinkSync('sub', join(from, 'way'))
      symlinkSync('way/../../outside', join(from, 'bad'))
    },
  ],
  [
    'a link through a chain',
    () => {
      symlinkSync('bad', join(from, 'first'))
      symlinkSync('..', join(from, 'bad'))
    },
  ],
  ['a loop of links', () => symlinkSync('bad', join(from, 'bad'))],
])('%s that leads out of the tree is UNSAFE_PATH', async (_, make) => {
  put({ a: 'x' })
  make()
  await expect(copyTree(from, to)).rejects.toMatchObject({
    code: 'UNSAFE_PATH',
    message: expect.stringMatching(/bad|first/),
  })
})

test('an absolute link into the source leads to the same place in the copy', async () => {
  put({ 'sub/a': 'x' })
  symlinkSync(join(from, 'sub/a'), join(from, 'sub/link'))
  symlinkSync(from, join(from, 'sub/root'))
  symlinkSync(join(from, 'sub'), join(from, 'sub/here'))
  await copyTree(from, to)
  expect(readlinkSync(join(to, 'sub/link'))).toBe('a')
  expect(readlinkSync(join(to, 'sub/root'))).toBe('..')
  expect(readlinkSync(join(to, 'sub/here'))).toBe('.')
})

test('FIFOs and sockets are left out with a warning, without hanging', async () => {
  put({ a: 'x' })
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(from, 'pipe')])
  expect(await copyTree(from, to)).toMatchObject({ files: 1, warnings: [expect.stringContaining('pipe')] })
  expect(existsSync(join(to, 'pipe'))).toBe(false)
})

test('excluded paths are neither copied nor entered', async () => {
  put({ 'node_modules/x/y': '1', a: '1', 'sub/skip': '1', 'sub/keep': '1' })
  symlinkSync('/etc', join(from, 'bad'))
  const asked: string[] = []
  await copyTree(from, to, {
    exclude: (path, isDirectory) => {
      asked.push(`${path}${isDirectory ? '/' : ''}`)
      return ['node_modules', 'bad', 'sub/skip'].includes(path)
    },
  })
  expect([...snapshotTree(to).keys()].sort()).toEqual(['a', 'sub/keep'])
  expect(asked.sort()).toEqual(['a', 'bad', 'node_modules/', 'sub/', 'sub/keep', 'sub/skip'])
})

test('a second copy replaces files, keeps others, and does not write through links', async () => {
  put({ a: 'new', 'dir/f': 'new', large: 'n'.repeat(100_000) })
  const victim = join(dirname(from), 'victim')
  writeFileSync(victim, 'untouched')
  mkdirSync(join(to, 'dir'), { recursive: true })
  writeFileSync(join(to, 'dir/other'), 'stays')
  symlinkSync(victim, join(to, 'a'))
  symlinkSync(victim, join(to, 'large'))
  await copyTree(from, to)
  expect(readFileSync(victim, 'utf8')).toBe('untouched')
  expect(readFileSync(join(to, 'a'), 'utf8')).toBe('new')
  expect(lstatSync(join(to, 'large')).isFile()).toBe(true)
  expect(readFileSync(join(to, 'dir/other'), 'utf8')).toBe('stays')
})

test('a link in place of a directory, or a directory in place of a file, stops the copy', async () => {
  put({ 'dir/f': 'x' })
  mkdirSync(to, { recursive: true })
  symlinkSync(base, join(to, 'dir'))
  await expect(copyTree(from, to)).rejects.toMatchObject({ code: 'UNSAFE_PATH' })
  rmSync(join(to, 'dir'))
  put({ file: 'x' })
  mkdirSync(join(to, 'file/full'), { recursive: true })
  await expect(copyTree(from, to)).rejects.toMatchObject({ code: 'UNSAFE_PATH' })
})

test('a directory is not copied into itself, unless the target is excluded', async () => {
  put({ a: 'x' })
  await expect(copyTree(from, join(from, 'out/copy'))).rejects.toMatchObject({ code: 'UNSAFE_PATH' })
  rmSync(join(from, 'out'), { recursive: true })
  expect(await copyTree(from, join(from, 'out'), { exclude: (path) => path === 'out' })).toMatchObject({
    files: 1,
  })
})

test('a missing source is NOT_FOUND, a target that cannot be written NOT_WRITABLE', async () => {
  await expect(copyTree(join(from, 'none'), to)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  put({ file: 'x' })
  await expect(copyTree(join(from, 'file'), to)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(copyTree(from, join(from, 'file/to'))).rejects.toMatchObject({ code: 'NOT_WRITABLE' })
  chmodSync(base, 0o755)
  chmodSync(dirname(from), 0o555)
  await expect(asPlainUser(() => copyTree(from, join(dirname(from), 'closed')))).rejects.toMatchObject({
    code: 'NOT_WRITABLE',
  })
})

test('names that are not UTF-8 and names with unusual characters are copied', async () => {
  mkdirSync(Buffer.from(`${from}/d\xff`, 'latin1'))
  writeFileSync(Buffer.from(`${from}/d\xff/f\xfe`, 'latin1'), 'bytes')
  writeFileSync(join(from, ' -"\n\\ \u{1F600}'), 'odd')
  symlinkSync('d', join(from, 'link'))
  writeFileSync(Buffer.from(`${from}/f\xfe`, 'latin1'), 'beside a link')
  expect(await copyTree(from, to)).toMatchObject({ files: 3 })
  expect(differences()).toEqual(nothing)
  expect(readFileSync(Buffer.from(`${to}/d\xff/f\xfe`, 'latin1'), 'utf8')).toBe('bytes')
  symlinkSync('..', Buffer.from(`${from}/l\xff`, 'latin1'))
  await expect(copyTree(from, `${to}2`)).rejects.toThrow('the link l\\xff has a name that is not UTF-8')
  await copyTree(from, `${to}3`, { keepsOutside: true })
  expect(readlinkSync(Buffer.from(`${to}3/l\xff`, 'latin1'))).toBe('..')
})

test('any tree of files is copied exactly', async () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c.d', 'é'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('/'))
  const files = fc.uniqueArray(
    fc.tuple(path, fc.integer({ min: 0, max: 140_000 }), fc.constantFrom(0o644, 0o755, 0o600)),
    {
      selector: ([name]) => name.split('/').join('_/'),
      maxLength: 6,
    },
  )
  await fc.assert(
    fc.asyncProperty(files, async (entries) => {
      const dir = mkdtempSync(join(base, 'p-'))
      from = join(dir, 'from')
      to = join(dir, 'to')
      mkdirSync(from)
      // `x_` keeps a file and a directory from wanting the same name.
      for (const [name, size, mode] of entries) {
        put({ [`${name.replaceAll('/', '_/')}.x`]: 'y'.repeat(size) })
        chmodSync(join(from, `${name.replaceAll('/', '_/')}.x`), mode)
      }
      await copyTree(from, to)
      expect(differences()).toEqual(nothing)
    }),
    { numRuns: 40 },
  )
})

test('other work goes on during a large copy', async () => {
  for (let n = 0; n < 3000; n += 1) put({ [`d${n % 10}/f${n}`]: 'x' })
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  await copyTree(from, to)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(from, path)), { recursive: true })
    writeFileSync(join(from, path), content)
  }
}
