import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { asPlainUser } from '../../test/as-plain-user.ts'
import { GantryError } from '../core/error.ts'
import { copyFileInto, sameContent } from './copy-file-into.ts'
import { makeDirectories } from './directory.ts'
import {
  listFiles,
  readJsonIfExists,
  readTextInside,
  removeTree,
  resolveInside,
  translateFsError,
  writeFileAtomic,
  writeJsonAtomic,
} from './files.ts'
import { removeIfEmpty } from './remove-if-empty.ts'

const here = join(import.meta.dirname, 'files.ts')
let base = ''
let dir = ''
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-files-'))
  chmodSync(base, 0o755)
})
afterAll(() => removeTree(base))
beforeEach(() => {
  dir = join(mkdtempSync(join(base, 't-')), 'root')
  mkdirSync(dir)
  chmodSync(dirname(dir), 0o755)
})

describe('atomic writing', () => {
  test('creates parents, replaces the old file, leaves no temporary file', () => {
    const path = join(dir, 'a/b/c.json')
    writeJsonAtomic(path, { n: 1 })
    writeFileAtomic(path, '{"n":2}')
    expect(readJsonIfExists(path)).toEqual({ n: 2 })
    expect(readdirSync(dirname(path))).toEqual(['c.json'])
  })

  test('replaces a link instead of writing through it', () => {
    const victim = join(dir, 'victim')
    writeFileSync(victim, 'untouched')
    symlinkSync(victim, join(dir, 'link'))
    writeFileAtomic(join(dir, 'link'), 'new')
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    expect(lstatSync(join(dir, 'link')).isFile()).toBe(true)
  })

  test('leaves no temporary file when the last step fails', () => {
    mkdirSync(join(dir, 'taken/full'), { recursive: true })
    expect(() => writeFileAtomic(join(dir, 'taken'), 'x')).toThrow(GantryError)
    expect(readdirSync(dir)).toEqual(['taken'])
  })

  test('leaves no temporary or partial file when writing fails', () => {
    const path = join(dir, 'limited')
    writeFileSync(path, 'old')
    const program = `
      import { writeFileAtomic } from ${JSON.stringify(here)}
      try { writeFileAtomic(${JSON.stringify(path)}, 'x'.repeat(1_000_000)) } catch (error) { console.log(error.code) }`
    const { stdout } = spawnSync(
      'sh',
      ['-c', 'trap "" XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1"', process.execPath, program],
      { encoding: 'utf8' },
    )
    expect(stdout.trim()).toBe('NO_SPACE')
    expect(readdirSync(dir)).toEqual(['limited'])
    expect(readFileSync(path, 'utf8')).toBe('old')
  })
})

describe('errors of the environment', () => {
  test('a full disk is NO_SPACE, forbidden places are NOT_WRITABLE, both with a hint', () => {
    const full = caught(() => writeFileSync('/dev/full', 'x'))
    expect(translateFsError(full, 'write x')).toMatchObject({
      code: 'NO_SPACE',
      message: 'cannot write x: no space left on the disk',
      hint: expect.any(String),
      cause: full,
    })
    chmodSync(dir, 0o555)
    for (const attempt of [
      () => writeFileAtomic(join(dir, 'f'), 'x'),
      () => writeFileAtomic(join(dir, 'sub/f'), 'x'),
      () => makeDirectories(join(dir, 'sub')),
    ])
      expect(caught(() => asPlainUser(attempt))).toMatchObject({
        code: 'NOT_WRITABLE',
        hint: expect.any(String),
      })
    expect(readdirSync(dir)).toEqual([])
  })

  test('a file in place of a directory is NOT_WRITABLE', () => {
    writeFileSync(join(dir, 'file'), '')
    expect(caught(() => makeDirectories(join(dir, 'file')))).toMatchObject({ code: 'NOT_WRITABLE' })
    expect(caught(() => writeFileAtomic(join(dir, 'file/f'), ''))).toMatchObject({ code: 'NOT_WRITABLE' })
  })

  test('other errors are returned unchanged', () => {
    const bug = new TypeError('x')
    expect(translateFsError(bug, 'write')).toBe(bug)
  })

  test('invalid JSON is CORRUPT with its path, a missing file is undefined', () => {
    const path = join(dir, 'bad.json')
    writeFileSync(path, '{"torn": ')
    expect(caught(() => readJsonIfExists(path))).toMatchObject({
      code: 'CORRUPT',
      message: expect.stringContaining(path),
    })
    writeFileSync(path, '\uFEFF{}')
    expect(readJsonIfExists(path)).toEqual({})
    expect(readJsonIfExists(join(dir, 'none.json'))).toBeUndefined()
  })
})

describe('removing', () => {
  test('removes a tree with read-only directories, and links without their targets', () => {
    const victim = join(dirname(dir), 'victim')
    mkdirSync(victim)
    writeFileSync(join(victim, 'f'), 'x')
    chmodSync(dirname(dir), 0o777)
    asPlainUser(() => {
      mkdirSync(join(dirname(dir), 'tree/a/b'), { recursive: true })
      writeFileSync(join(dirname(dir), 'tree/a/b/f'), 'x')
      symlinkSync(victim, join(dirname(dir), 'tree/a/link'))
      chmodSync(join(dirname(dir), 'tree/a/b'), 0o000)
      chmodSync(join(dirname(dir), 'tree/a'), 0o555)
      removeTree(join(dirname(dir), 'tree'))
    })
    expect(existsSync(join(dirname(dir), 'tree'))).toBe(false)
    expect(readFileSync(join(victim, 'f'), 'utf8')).toBe('x')
  })

  test('removes a link to a directory or a single file, and ignores a missing path', () => {
    writeFileSync(join(dir, 'f'), 'x')
    symlinkSync('.', join(dir, 'self'))
    removeTree(join(dir, 'self'))
    removeTree(join(dir, 'none'))
    removeTree(join(dir, 'f'))
    expect(readdirSync(dir)).toEqual([])
  })

  test('only an empty directory is removed when it must be empty', () => {
    mkdirSync(join(dir, 'empty'))
    mkdirSync(join(dir, 'full/x'), { recursive: true })
    for (const name of ['empty', 'full', 'none']) removeIfEmpty(join(dir, name))
    expect(readdirSync(dir)).toEqual(['full'])
  })
})

describe('paths that must stay inside', () => {
  beforeEach(() => {
    mkdirSync(join(dir, 'sub/deep'), { recursive: true })
    writeFileSync(join(dir, 'sub/f'), 'inside')
    writeFileSync(join(dirname(dir), 'secret'), 'outside')
    for (const [name, target] of Object.entries({
      in: 'sub/f',
      'in-dir': 'sub',
      up: '..',
      'out-file': '../secret',
      'out-abs': '/etc/passwd',
      'back-in': '../root/sub/f',
      'abs-in': join(dir, 'sub/f'),
      chain: 'up/secret',
      dangling: 'sub/none',
      'dangling-out': '../none',
      loop: 'loop',
    }))
      symlinkSync(target, join(dir, name))
  })

  test.each([
    ['sub/f', 'sub/f'],
    ['./sub//deep/../f', 'sub/f'],
    ['in', 'sub/f'],
    ['in-dir/f', 'sub/f'],
    ['in-dir/deep/../f', 'sub/f'],
    ['abs-in', 'sub/f'],
    ['.', ''],
    ['', ''],
  ])('%j is inside', (path, real) => {
    expect(resolveInside(dir, path)).toEqual({ kind: 'inside', path: join(dir, real) })
  })

  test.each([
    ['none', 'none'],
    ['sub/none/x', 'sub/none/x'],
    ['sub/f/x', 'sub/f/x'],
    ['dangling', 'sub/none'],
    [`sub/${'n'.repeat(300)}`, `sub/${'n'.repeat(300)}`],
  ])('%j is missing', (path, real) => {
    expect(resolveInside(dir, path)).toEqual({ kind: 'missing', path: join(dir, real) })
  })

  test.each([
    '/etc/passwd',
    '..',
    '../secret',
    'sub/../../secret',
    'none/../../secret',
    'up',
    'up/secret',
    'up/root/sub/f',
    'out-file',
    'out-abs',
    'back-in',
    'chain',
    'dangling-out',
    'loop',
    'sub/f\0',
  ])('%j is outside', (path) => {
    expect(resolveInside(dir, path)).toEqual({ kind: 'outside', reason: expect.any(String) })
    expect(readTextInside(dir, path)).toMatchObject({ kind: 'outside' })
  })

  test('nothing from outside is ever read, for any path', () => {
    const step = fc.constantFrom(
      '..',
      '.',
      '',
      'sub',
      'f',
      'up',
      'root',
      'secret',
      'in-dir',
      'deep',
      'back-in',
      'chain',
      'out-file',
      'in',
      'loop',
      'etc',
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const found = readTextInside(dir, steps.join('/'))
        if (found.kind === 'text') expect(found.text).toBe('inside')
        const where = resolveInside(dir, steps.join('/'))
        if (where.kind === 'inside') expect(`${where.path}/`.startsWith(`${dir}/`)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('a text is read, also through a link that stays inside', () => {
    expect(readTextInside(dir, 'in-dir/f')).toEqual({
      kind: 'text',
      text: 'inside',
      path: join(dir, 'sub/f'),
    })
  })

  test('directories, FIFOs and sockets are not files and never block; missing and large files are reported', async () => {
    spawnSync('sh', ['-c', 'mkfifo "$0"', join(dir, 'pipe')])
    const server = createServer().listen(join(dir, 'socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    expect(readTextInside(dir, 'sub')).toMatchObject({ kind: 'not_a_file', what: 'a directory' })
    expect(readTextInside(dir, 'pipe')).toMatchObject({ kind: 'not_a_file', what: 'a FIFO' })
    expect(readTextInside(dir, 'socket')).toMatchObject({ kind: 'not_a_file' })
    expect(readTextInside(dir, 'none')).toEqual({ kind: 'missing', path: join(dir, 'none') })
    expect(readTextInside(dir, 'sub/f', { maxBytes: 6 })).toMatchObject({ kind: 'text' })
    expect(readTextInside(dir, 'sub/f', { maxBytes: 5 })).toMatchObject({ kind: 'too_large', bytes: 6 })
    await new Promise((resolve) => server.close(resolve))
  })

  test('a file without a size is read to its end, within the limit', () => {
    expect(readTextInside('/proc/self', 'status')).toMatchObject({
      kind: 'text',
      text: expect.stringContaining('Pid:'),
    })
    expect(readTextInside('/proc/self', 'status', { maxBytes: 10 })).toMatchObject({ kind: 'too_large' })
  })

  test('an unreadable file and a closed directory are reported', () => {
    chmodSync(join(dir, 'sub/f'), 0o000)
    expect(asPlainUser(() => readTextInside(dir, 'sub/f'))).toMatchObject({
      kind: 'unreadable',
      reason: 'permission denied',
    })
    chmodSync(join(dir, 'sub'), 0o000)
    expect(asPlainUser(() => resolveInside(dir, 'sub/f'))).toMatchObject({
      kind: 'outside',
      reason: expect.stringContaining('sub/f'),
    })
    chmodSync(join(dir, 'sub'), 0o755)
  })
})

test('files are listed sorted, with links, without excluded files or the content of links', () => {
  for (const path of ['b', 'a/z', 'a/y', 'skip/x']) writeFileAtomic(join(dir, path), '')
  symlinkSync('a', join(dir, 'link'))
  mkdirSync(join(dir, 'empty'))
  const exclude = (path: string, isDirectory: boolean) => isDirectory && path === 'skip'
  expect(listFiles(dir, { exclude })).toEqual(['a/y', 'a/z', 'b', 'link'])
  expect(listFiles(dir)).toContain('skip/x')
})

describe('putting a file back', () => {
  test('anything in the way is removed, and nothing outside is changed', () => {
    const source = join(dirname(dir), 'grade.sh')
    writeFileSync(source, 'real', { mode: 0o755 })
    const outside = join(dirname(dir), 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'grade.sh'), 'theirs')
    const target = join(dir, 'scripts/grade.sh')
    const back = () => {
      copyFileInto(source, dir, 'scripts/grade.sh')
      expect(sameContent(source, target)).toBe(true)
    }
    back()
    writeFileSync(target, 'fake')
    expect(sameContent(source, target)).toBe(false)
    back()
    rmSync(target)
    symlinkSync(source, target)
    expect(sameContent(source, target)).toBe(false)
    back()
    rmSync(join(dir, 'scripts'), { recursive: true })
    symlinkSync(outside, join(dir, 'scripts'))
    back()
    rmSync(target)
    mkdirSync(join(target, 'full'), { recursive: true })
    back()
    expect(readFileSync(join(outside, 'grade.sh'), 'utf8')).toBe('theirs')
    expect(() => copyFileInto(source, dir, '../x')).toThrow(expect.objectContaining({ code: 'UNSAFE_PATH' }))
  })
})

function caught(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
