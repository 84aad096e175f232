import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { fileBlob, linkBlobId } from './blob-id.ts'
import { allowing, errnoOf, translateFsError } from './fs-error.ts'
import { emptyListing, hashListing, readListing, recordOf, strayPaths } from './git-listing.ts'
import { type GitRepository, type OpenRepositoryOptions, openRepository } from './git-repository.ts'
import { isRealDirectory, joinPath, listDirectory, type Path, showPath, toBytes } from './list-directory.ts'

export interface TreeHash {
  readonly hash: string
  /** How the files were found: git knows which are ignored, a walk takes all but `.git`. */
  readonly method: 'git' | 'walk'
  readonly files: number
  /** One record per file, as in a git listing: `H mode id 0`, a tab, the path, NUL. Cut anywhere into parts. */
  readonly records: readonly Uint8Array[]
}

export interface TreeHashOptions {
  /**
   * Files that do not count although they are not ignored: called for untracked ones, in a walk about all. Paths are relative
   * to the directory, with slashes and one character per byte. Repositories inside are not asked about.
   */
  readonly leaveOut?: (path: string) => boolean
  /** Files that do not count even when they are tracked, by their paths as above. */
  readonly omit?: readonly string[]
  /** How long each call of git may take; then the tree is walked. */
  readonly gitTimeoutMs?: number
  /** The repository around the directory, just opened by the caller; `gitTimeoutMs` is then what it was opened with. */
  readonly repository?: GitRepository | null
}

/**
 * A hash of what is in a working tree: it changes if and only if a file's content, its path, its executable bit or a link's
 * target changes. Times, the index and commits do not matter. Links are never followed, empty directories do not count.
 *
 * In a repository untracked files count and ignored ones do not. What git itself normalises in a text (line ends, `$Id$`,
 * encoding, by attributes or `core.autocrlf`) is not a change. External filters are not run: their files count as they lie on
 * the disk. A submodule, or any repository inside, counts by its commit and by its own tree. The ids of unchanged files come
 * from the index, which git trusts by size, times and inode; someone who writes a false index by hand can deceive it.
 */
export async function treeHash(dir: string, options: TreeHashOptions = {}): Promise<TreeHash> {
  const top = realDirectory(dir)
  try {
    return (await hashInRepository(top, options)) ?? (await hashWalk(top, options))
  } catch (cause) {
    throw translateFsError(cause, `hash ${dir}`)
  }
}

function realDirectory(dir: string): string {
  try {
    const top = realpathSync.native(dir)
    if (isRealDirectory(top)) return top
  } catch (cause) {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(cause) ?? '')) throw translateFsError(cause, `hash ${dir}`)
  }
  throw new GantryError('NOT_FOUND', `the directory ${dir} does not exist`)
}

/** null when git does not answer for this directory: no repository, no git, or a repository that ignores it. */
async function hashInRepository(top: string, options: TreeHashOptions): Promise<TreeHash | null> {
  const repository =
    options.repository === undefined ? await openRepository(top, bounded(options)) : options.repository
  if (repository === null) return null
  const ignored = repository.root !== top && (await isIgnored(repository, top))
  return ignored ? null : hashRepository(repository, top, options)
}

function bounded({ gitTimeoutMs }: TreeHashOptions): OpenRepositoryOptions {
  return gitTimeoutMs === undefined ? {} : { timeoutMs: gitTimeoutMs }
}

async function hashRepository(
  repository: GitRepository,
  top: string,
  options: TreeHashOptions = {},
): Promise<TreeHash | null> {
  const { leaveOut, omit = [] } = options
  const tree = await readGitTree(repository, top, leaveOut)
  if (tree === null) return null
  // git itself lists a file behind a link as if it were in the tree.
  const stray = strayPaths(tree.listing, parentCheck(top)).map((path) => [path, null] as const)
  const found = await lookAt(top, new Map([...tree.doubts, ...stray]), {
    repository,
    nested: tree.repositories,
    bound: bounded(options),
  })
  const records = new Map([...found, ...omit.map((path) => [path, null] as const)])
  return { ...hashListing(tree.listing, records), method: 'git' }
}

async function isIgnored(repository: GitRepository, top: string): Promise<boolean> {
  return (await repository.run(['check-ignore', '--quiet', '--', top])).exitCode === 0
}

async function hashWalk(top: Path, { leaveOut, omit = [] }: TreeHashOptions = {}): Promise<TreeHash> {
  const found = new Map<string, null>()
  const visit = (directory: Path, prefix: string): void => {
    for (const entry of listDirectory(directory)) {
      const name = toBytes(entry.name).toString('latin1')
      if (name === '.git') continue
      if (entry.isDirectory()) visit(joinPath(directory, entry.name), `${prefix}${name}/`)
      else if (leaveOut?.(prefix + name) !== true && !omit.includes(prefix + name))
        found.set(prefix + name, null)
    }
  }
  visit(top, '')
  return { ...hashListing(emptyListing, await lookAt(top, found, null)), method: 'walk' }
}

interface KnownToGit {
  readonly repository: GitRepository
  readonly nested: ReadonlyMap<string, string | null>
  readonly bound: OpenRepositoryOptions
}

/** Codes of a path that was removed meanwhile. */
const gone = ['ENOENT', 'ENOTDIR']

/** What really is at these paths: a record each, or null where no file, link or repository is. */
async function lookAt(
  top: Path,
  paths: ReadonlyMap<string, string | null>,
  git: KnownToGit | null,
): Promise<ReadonlyMap<string, string | null>> {
  const algorithm = git?.repository.objectFormat
  const records = new Map<string, string | null>()
  const askGit: { readonly path: string; readonly mode: string }[] = []
  const hasRealParents = parentCheck(top)
  let looked = 0
  for (const [path, recorded] of paths) {
    const full = fullPath(top, path)
    const stats = hasRealParents(path) ? allowing(gone, () => lstatSync(full)) : undefined
    const nested = git?.nested.get(path)
    if (stats?.isFile()) {
      const mode = (stats.mode & 0o100) === 0 ? '100644' : '100755'
      const blob = allowing(gone, () => fileBlob(full, algorithm))
      records.set(path, blob === undefined ? null : recordOf(mode, blob.id, path))
      if (git !== null && blob?.mayBeNormalised && blob.id !== recorded) askGit.push({ path, mode })
    } else if (stats?.isSymbolicLink()) {
      records.set(path, recordOf('120000', linkBlobId(full, algorithm), path))
    } else if (stats?.isDirectory() && nested !== undefined) {
      records.set(path, recordOf('160000', await nestedId(full, nested, git?.bound), path))
    } else records.set(path, null)
    looked += 1
    // Other work of this process goes on in between.
    if (looked % 500 === 0) await setImmediate()
  }
  const ids = git === null || askGit.length === 0 ? [] : await normalisedIds(git.repository, top, askGit)
  for (const [index, { path, mode }] of askGit.entries()) {
    const id = ids[index]
    if (id !== undefined) records.set(path, recordOf(mode, id, path))
  }
  return records
}

/** The ids git would store these files under, all or none. */
async function normalisedIds(
  repository: GitRepository,
  top: Path,
  files: readonly { readonly path: string }[],
): Promise<readonly string[]> {
  const stdin = Buffer.from(files.map(({ path }) => `${quoted(path)}\n`).join(''), 'latin1')
  const { exitCode, stdout } = await repository.run(['hash-object', '--stdin-paths'], {
    cwd: showPath(top),
    stdin,
  })
  const ids = stdout.toString('latin1').split('\n').slice(0, -1)
  return exitCode === 0 && ids.length === files.length ? ids : []
}

/** The commit it is at and its own tree. A submodule that is not checked out is the commit recorded for it. */
async function nestedId(
  dir: Path,
  recorded: string | null,
  bound: OpenRepositoryOptions = {},
): Promise<string> {
  const repository = typeof dir === 'string' ? await openRepository(dir, bound) : null
  const { timeoutMs: gitTimeoutMs } = bound
  const own =
    repository?.root === dir
      ? await hashRepository(repository, repository.root, { ...(gitTimeoutMs && { gitTimeoutMs }) })
      : null
  if (repository !== null && own !== null) {
    const head = await repository.run(['rev-parse', '--verify', '--quiet', 'HEAD'])
    return `${head.exitCode === 0 ? head.stdout.toString('latin1').trim() : 'unborn'}:${own.hash}`
  }
  if (recorded !== null && readdirSync(dir).length === 0) return recorded
  return `walked:${(await hashWalk(dir)).hash}`
}

/** As git quotes names in C's manner; it reads lines. */
function quoted(path: string): string {
  if (/^[ !#-[\]-~]+$/.test(path)) return path
  const octal = (char: string): string => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `"${path.replaceAll(/[^ !#-[\]-~]/g, octal)}"`
}

/** Bytes only where the name is no UTF-8: strings are cheaper, and programs can be started in them. */
function fullPath(top: Path, path: string): Path {
  if (/^[\x20-\x7e]*$/.test(path)) return joinPath(top, path)
  const bytes = Buffer.from(path, 'latin1')
  return joinPath(top, isUtf8(bytes) ? bytes.toString('utf8') : bytes)
}

/** A file behind a link that took a directory's place is not in the tree. */
function parentCheck(top: Path): (path: string) => boolean {
  const known = new Map<string, boolean>([['', true]])
  const isReal = (directory: string): boolean => {
    const before = known.get(directory)
    if (before !== undefined) return before
    const real = isReal(parentOf(directory)) && isRealDirectory(fullPath(top, directory))
    known.set(directory, real)
    return real
  }
  return (path) => isReal(parentOf(path))
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}

/**
 * What git knows about a working tree, and which paths have to be checked. Paths are relative to `top`, one character per byte. null when
 * git does not answer. `leaveOut` is called for untracked files.
 */
async function readGitTree(
  repository: GitRepository,
  top: string,
  leaveOut: (path: string) => boolean = () => false,
) {
  // Unlike `git status` this compares nothing with the last commit. A changed or missing file is listed twice, the second time as such.
  const lists = 'ls-files --cached --modified --others --exclude-standard --stage -v -z'.split(' ')
  const [listed, filtered] = await Promise.all([
    repository.run(lists, { cwd: top }),
    filteredPaths(repository, top),
  ])
  if (listed.exitCode !== 0 || filtered === null) return null
  const indexStart = endOfOthers(listed.stdout)
  const listing = readListing(listed.stdout.subarray(indexStart))
  const others = names(listed.stdout.subarray(0, indexStart)).map((line) => line.slice(2))
  // Only the directory of another repository is listed without its content.
  const inside = others.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1))
  const untracked = others.filter((path) => !path.endsWith('/') && !leaveOut(path))
  /** Submodules with the commit that is recorded for them, and other repositories inside. */
  const repositories = new Map<string, string | null>([...unrecorded(inside), ...listing.gitlinks])
  /** Paths where the tree differs or may differ from the listing, with the id in the index if any. */
  const doubts = new Map<string, string | null>([
    ...unrecorded([...repositories.keys(), ...untracked, ...filtered]),
    ...listing.doubtful,
  ])
  return { listing, doubts, repositories }
}

function unrecorded(paths: readonly string[]): (readonly [string, null])[] {
  return paths.map((path) => [path, null])
}

/** Files stored through an external filter. */
async function filteredPaths(repository: GitRepository, top: string): Promise<readonly string[] | null> {
  if (!repository.hasFilters) return []
  const found = await repository.run(['ls-files', '-z', '--', ':(exclude,attr:!filter)'], { cwd: top })
  return found.exitCode === 0 ? names(found.stdout) : null
}

/** Untracked paths, marked by a question mark, come before the index. */
function endOfOthers(bytes: Buffer): number {
  let at = 0
  while (bytes[at] === 0x3f) at = bytes.indexOf(0, at) + 1
  return at
}

function names(bytes: Buffer): string[] {
  return bytes.toString('latin1').split('\0').slice(0, -1)
}
