import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { asNobody } from '../../test/support/as-nobody.ts'
import { isRoot } from './is-root.ts'
import { type TreeHash, treeHash } from './tree-hash.ts'

let base = ''
let seed = ''
let dir = ''
let count = 0
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-tree-hash-'))
  chmodSync(base, 0o755)
  seed = join(base, 'seed')
  put(seed, {
    'a.txt': 'one\n',
    'src/b.txt': 'two\n',
    'src/deep/c.txt': 'three\n',
    '.gitignore': '*.log\nout/\n',
  })
  writeFileSync(join(seed, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
  symlinkSync('src/b.txt', join(seed, 'link'))
  git(seed, 'init', '-q', '-b', 'main')
  commit(seed)
})
afterAll(() => rmSync(base, { recursive: true }))
beforeEach(() => {
  count += 1
  dir = join(base, `w${count}`)
  cpSync(seed, dir, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
})

const hash = async (at = dir): Promise<string> => (await treeHash(at)).hash

describe('what changes the hash', () => {
  const changes: readonly [string, () => void][] = [
    ['an edit', () => writeFileSync(join(dir, 'a.txt'), 'One\n')],
    ['an edit of the same size with its old time put back', () => editKeepingTimes('a.txt', 'onE\n')],
    ['a new file', () => writeFileSync(join(dir, 'new.txt'), '')],
    ['a deleted file', () => unlinkSync(join(dir, 'src/b.txt'))],
    ['a renamed file', () => renameSync(join(dir, 'a.txt'), join(dir, 'b.txt'))],
    ['an executable bit set', () => chmodSync(join(dir, 'a.txt'), 0o755)],
    ['an executable bit taken', () => chmodSync(join(dir, 'run.sh'), 0o644)],
    ['a link to elsewhere', () => relink('link', 'a.txt')],
    ['a file in place of a link', () => swap('link', () => writeFileSync(join(dir, 'link'), 'src/b.txt'))],
    [
      'a link in place of a directory',
      () => swap('src', () => symlinkSync(join(seed, 'src'), join(dir, 'src'))),
    ],
    ['a directory in place of a file', () => swap('a.txt', () => mkdirSync(join(dir, 'a.txt')))],
    ['a name that is not UTF-8', () => writeFileSync(Buffer.from(`${dir}/\xff`, 'latin1'), 'x')],
  ]
  test.each(changes)('%s, staged or not, committed or not', async (_, change) => {
    const before = await hash()
    change()
    const after = await hash()
    expect(after).not.toBe(before)
    git(dir, 'add', '-A')
    expect(await hash()).toBe(after)
    commit(dir)
    expect(await hash()).toBe(after)
    git(dir, 'reset', '-q', '--soft', 'HEAD~1')
    expect(await hash()).toBe(after)
    git(dir, 'reset', '-q')
    expect(await hash()).toBe(after)
  })

  test('a link in place of a directory whose name is ignored', async () => {
    writeFileSync(join(dir, '.git/info/exclude'), 'src\n')
    const before = await hash()
    swap('src', () => symlinkSync(join(seed, 'src'), join(dir, 'src')))
    expect(await hash()).not.toBe(before)
  })

  test.each(['--assume-unchanged', '--skip-worktree'])('an edit hidden with %s', async (flag) => {
    git(dir, 'config', 'sparse.expectFilesOutsideOfPatterns', 'true')
    git(dir, 'update-index', flag, 'a.txt')
    const before = await hash()
    writeFileSync(join(dir, 'a.txt'), 'changed\n')
    expect(git(dir, 'status', '--porcelain')).toBe('')
    expect(await hash()).not.toBe(before)
    unlinkSync(join(dir, 'a.txt'))
    expect((await treeHash(dir)).files).toBe(5)
  })

  test.each([
    ['core.fileMode', 'false', () => chmodSync(join(dir, 'a.txt'), 0o755)],
    ['core.trustctime', 'false', () => editKeepingTimes('a.txt', 'onE\n')],
    ['core.checkStat', 'minimal', () => editKeepingTimes('a.txt', 'onE\n')],
    ['core.worktree', '/', () => writeFileSync(join(dir, 'a.txt'), 'x')],
    ['core.bare', 'true', () => writeFileSync(join(dir, 'a.txt'), 'x')],
    ['status.showUntrackedFiles', 'no', () => writeFileSync(join(dir, 'new'), 'x')],
  ] as const)('a change that %s = %s would hide', async (key, value, change) => {
    git(dir, 'config', key, value)
    const before = await treeHash(dir)
    expect(before).toMatchObject({ method: 'git', files: 6 })
    change()
    expect(await hash()).not.toBe(before.hash)
  })

  test('an edit inside another repository, with and without commits, submodule or not', async () => {
    mkdirSync(join(dir, 'inner'))
    git(join(dir, 'inner'), 'init', '-q')
    const seen = [await hash()]
    put(dir, { 'inner/f': '1' })
    seen.push(await hash())
    commit(join(dir, 'inner'))
    seen.push(await hash())
    put(dir, { 'inner/f': '2' })
    seen.push(await hash())
    git(dir, '-c', 'advice.addEmbeddedRepo=false', 'add', '-A')
    expect(await hash()).toBe(seen.at(-1))
    commit(dir)
    expect(await hash()).toBe(seen.at(-1))
    put(dir, { 'inner/f': '3' })
    seen.push(await hash())
    expect(new Set(seen).size).toBe(5)
  })

  test('an edit in an inner repository that is broken, or whose name is not UTF-8', async () => {
    const inner = Buffer.from(`${dir}/\xffname`, 'latin1')
    mkdirSync(inner)
    execFileSync('git', ['init', '-q', '.'], { cwd: tmpdirLink(inner) })
    writeFileSync(Buffer.concat([inner, Buffer.from('/f')]), '1')
    const before = await hash()
    writeFileSync(Buffer.concat([inner, Buffer.from('/f')]), '2')
    expect(await hash()).not.toBe(before)
  })
})

describe('what does not change the hash', () => {
  test('times, ignored files, empty directories, the index', async () => {
    const before = await hash()
    for (const name of ['a.txt', 'src/b.txt', 'run.sh']) utimesSync(join(dir, name), 1, 1)
    put(dir, { 'x.log': 'ignored', 'out/y': 'ignored' })
    mkdirSync(join(dir, 'empty'))
    expect(await hash()).toBe(before)
    git(dir, 'rm', '-q', '--cached', 'a.txt', 'src/b.txt')
    expect(await hash()).toBe(before)
    git(dir, 'add', '-N', 'a.txt')
    expect(await hash()).toBe(before)
    rmSync(join(dir, '.git/index'))
    expect(await hash()).toBe(before)
  })

  test('a clone, a worktree, a repository without commits and one with SHA-256 in step with itself', async () => {
    const expected = await hash()
    git(base, 'clone', '-q', dir, `${dir}-clone`)
    expect(await hash(`${dir}-clone`)).toBe(expected)
    git(dir, 'worktree', 'add', '-q', `${dir}-worktree`)
    expect(await treeHash(`${dir}-worktree`)).toMatchObject({ hash: expected, method: 'git' })
    rmSync(join(dir, '.git'), { recursive: true })
    git(dir, 'init', '-q')
    expect(await treeHash(dir)).toMatchObject({ hash: expected, method: 'git' })
    rmSync(join(dir, '.git'), { recursive: true })
    git(dir, 'init', '-q', '--object-format=sha256')
    const unstaged = await hash()
    git(dir, 'add', '-A')
    expect(await hash()).toBe(unstaged)
  })

  test('line ends that git normalises', async () => {
    put(dir, { '.gitattributes': '*.txt text=auto\n' })
    commit(dir)
    put(dir, { 'crlf.txt': 'a\r\nb\r\n' })
    const untracked = await hash()
    git(dir, 'add', '-A')
    expect(await hash()).toBe(untracked)
    utimesSync(join(dir, 'crlf.txt'), 1, 1)
    expect(await hash()).toBe(untracked)
    put(dir, { 'crlf.txt': 'a\r\nc\r\n' })
    expect(await hash()).not.toBe(untracked)
  })

  test('the time of a file that was stored with CR before git was configured to normalise', async () => {
    put(dir, { 'old.txt': 'a\r\n' })
    commit(dir)
    put(dir, { '.gitattributes': '*.txt text=auto\n' })
    commit(dir)
    const before = await hash()
    utimesSync(join(dir, 'old.txt'), 1, 1)
    expect(await hash()).toBe(before)
  })

  test('a merge conflict resolved to the same text', async () => {
    git(dir, 'checkout', '-q', '-b', 'other')
    put(dir, { 'a.txt': 'other\n' })
    commit(dir)
    git(dir, 'checkout', '-q', 'main')
    put(dir, { 'a.txt': 'main\n' })
    commit(dir)
    expect(() =>
      git(dir, '-c', 'user.name=t', '-c', 'user.email=t@example.com', 'merge', '-q', 'other'),
    ).toThrow()
    const conflict = await treeHash(dir)
    expect(conflict.files).toBe(6)
    git(dir, 'add', '-A')
    expect(await hash()).toBe(conflict.hash)
    put(dir, { 'a.txt': 'main\n' })
    expect(await hash()).not.toBe(conflict.hash)
  })

  test('a sparse checkout counts what is there', async () => {
    git(dir, 'update-index', '--refresh')
    git(dir, 'sparse-checkout', 'set', '--no-cone', '/a.txt')
    expect(await treeHash(dir)).toMatchObject({ files: 1, method: 'git' })
  })

  test('variables of a surrounding git', async () => {
    const expected = await hash()
    process.env.GIT_DIR = join(seed, '.git')
    process.env.GIT_INDEX_FILE = '/nonexistent'
    try {
      expect(await treeHash(dir)).toMatchObject({ hash: expected, method: 'git' })
    } finally {
      delete process.env.GIT_DIR
      delete process.env.GIT_INDEX_FILE
    }
  })
})

describe('a hostile repository', () => {
  test('starts no program: no filter, no file-system monitor, no hook; and the index is not written', async () => {
    const trap = join(dir, 'trap.sh')
    const mark = `${dir}-sprung`
    writeFileSync(trap, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 })
    put(dir, { '.gitattributes': '*.txt filter=evil\nsrc/* filter=long\n' })
    commit(dir)
    for (const key of [
      'filter.evil.clean',
      'filter.evil.smudge',
      'filter.long.process',
      'core.fsmonitor',
      'core.pager',
      'diff.external',
    ])
      git(dir, 'config', key, trap)
    git(dir, 'config', 'filter.evil.required', 'true')
    put(dir, { '.git/hooks/post-index-change': readFileSync(trap, 'utf8') })
    chmodSync(join(dir, '.git/hooks/post-index-change'), 0o755)
    put(dir, { 'a.txt': 'changed\n', 'new.txt': 'new é\r\n' })
    const index = readFileSync(join(dir, '.git/index'))
    const { mtimeMs } = statSync(join(dir, '.git/index'))
    expect((await treeHash(dir)).method).toBe('git')
    expect(existsSync(mark)).toBe(false)
    expect(readFileSync(join(dir, '.git/index')).equals(index)).toBe(true)
    expect(statSync(join(dir, '.git/index')).mtimeMs).toBe(mtimeMs)
  })

  test('cannot hide an edit behind a filter that always answers the same', async () => {
    put(dir, { '.gitattributes': '*.txt filter=same\n' })
    git(dir, 'config', 'filter.same.clean', 'echo same')
    commit(dir)
    const before = await hash()
    put(dir, { 'a.txt': 'evil\n' })
    git(dir, 'add', '-A')
    expect(git(dir, 'status', '--porcelain')).toBe('')
    expect(await hash()).not.toBe(before)
  })

  test('cannot make the hash follow a link out of the tree', async () => {
    git(dir, 'update-index', '--assume-unchanged', 'src/b.txt')
    swap('src', () => symlinkSync(join(seed, 'src'), join(dir, 'src')))
    const before = await treeHash(dir)
    expect(before.files).toBe(5)
  })
})

/** With the records uncut, because they may be cut anywhere. */
const whole = ({ records, ...rest }: TreeHash) => ({
  ...rest,
  records: Buffer.concat(records).toString('latin1'),
})

describe('where git does not answer', () => {
  test('a plain directory is walked and agrees with git on the same files', async () => {
    const byGit = await treeHash(dir)
    rmSync(join(dir, '.git'), { recursive: true })
    expect(whole(await treeHash(dir))).toEqual({ ...whole(byGit), method: 'walk' })
  })

  test('a missing git and a damaged repository are walked', async () => {
    const byGit = await treeHash(dir)
    const { PATH } = process.env
    process.env.PATH = join(base, 'nowhere')
    try {
      expect(whole(await treeHash(dir))).toEqual({ ...whole(byGit), method: 'walk' })
    } finally {
      process.env.PATH = PATH
    }
    writeFileSync(join(dir, '.git/index'), 'garbage')
    expect(whole(await treeHash(dir))).toEqual({ ...whole(byGit), method: 'walk' })
  })

  test('a subdirectory counts alone, and one that the repository ignores is walked', async () => {
    const before = await treeHash(join(dir, 'src'))
    expect(before).toMatchObject({ files: 2, method: 'git' })
    put(dir, { 'a.txt': 'x' })
    expect(await hash(join(dir, 'src'))).toBe(before.hash)
    put(dir, { 'src/new': 'x', 'src/b.txt': 'é\n' })
    expect(await treeHash(join(dir, 'src'))).toMatchObject({ files: 3, method: 'git' })
    expect(await hash(join(dir, 'src'))).not.toBe(before.hash)
    put(dir, { 'out/f': '1' })
    expect(await treeHash(join(dir, 'out'))).toMatchObject({ files: 1, method: 'walk' })
  })

  test('FIFOs and unreadable files: the first do not count, the second are an error in words', async () => {
    const before = await hash()
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(dir, 'pipe')])
    expect(await hash()).toBe(before)
    const walked = join(base, `plain${count}`)
    put(walked, { f: 'x' })
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(walked, 'pipe')])
    expect(await treeHash(walked)).toMatchObject({ files: 1 })
    chmodSync(join(walked, 'f'), 0o000)
    const program = `
      import { treeHash } from ${JSON.stringify(join(import.meta.dirname, 'tree-hash.ts'))}
      await treeHash(${JSON.stringify(walked)}).then(console.log, (error) => console.log(error.name, error.message))`
    const [file = '', ...argv] = [
      ...(isRoot() ? asNobody() : []),
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ]
    const answer = execFileSync(file, argv, { encoding: 'utf8' })
    expect(answer.trim()).toBe(`GantryError cannot hash ${walked}: permission denied`)
  })

  test('a missing directory is NOT_FOUND', async () => {
    await expect(treeHash(join(base, 'none'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(treeHash(join(dir, 'a.txt'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

test('git and the walk agree on any set of files, and any two sets have different hashes', async () => {
  const name = fc.oneof(
    fc.constantFrom('a', 'a.b', 'a-b', 'A', 'ä', 'x y', '"q"', 'new\nline', '-', '\\', '\r'),
    fc.stringMatching(/^[a-c]{1,3}$/),
  )
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
  const files = fc
    .dictionary(path, fc.constantFrom('', 'x', 'y\n', 'é', 'a\r\n', '\0'), { maxKeys: 6 })
    .filter(noFileIsADirectory)
  const seen = new Map<string, string>()
  await fc.assert(
    fc.asyncProperty(files, async (content) => {
      const at = mkdtempSync(join(base, 'p-'))
      put(at, content)
      const walked = joined(await treeHash(at))
      git(at, 'init', '-q')
      const untracked = joined(await treeHash(at))
      git(at, '-c', 'core.safecrlf=false', 'add', '-A')
      const staged = joined(await treeHash(at))
      expect([untracked, staged]).toEqual([
        { ...walked, method: 'git' },
        { ...walked, method: 'git' },
      ])
      expect(walked.files).toBe(Object.keys(content).length)
      const key = JSON.stringify(Object.entries(content).sort())
      expect(seen.get(walked.hash) ?? key).toBe(key)
      seen.set(walked.hash, key)
    }),
    { numRuns: 25 },
  )
})

function noFileIsADirectory(files: Record<string, string>): boolean {
  const paths = Object.keys(files)
  return !paths.some((one) => paths.some((other) => other.startsWith(`${one}/`)))
}

function put(at: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(at, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), content)
  }
}

function editKeepingTimes(path: string, content: string): void {
  const { atime, mtime } = statSync(join(dir, path))
  writeFileSync(join(dir, path), content)
  utimesSync(join(dir, path), atime, mtime)
}

function relink(path: string, target: string): void {
  swap(path, () => symlinkSync(target, join(dir, path)))
}

function swap(path: string, put: () => void): void {
  rmSync(join(dir, path), { recursive: true })
  put()
}

/** A program can only be started in a directory whose name is text. */
function tmpdirLink(target: Buffer): string {
  const link = `${dir}-alias`
  symlinkSync(target, link)
  return link
}

function commit(at: string): void {
  git(at, 'add', '-A')
  git(at, '-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-q', '--allow-empty', '-m', 'x')
}

function git(at: string, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', ['-c', 'core.autocrlf=false', ...args], {
    cwd: at,
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

/** The records as one text, because they may be cut anywhere. */
function joined({ records, ...hash }: TreeHash) {
  return { ...hash, records: Buffer.concat(records).toString('latin1') }
}
