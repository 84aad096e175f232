import { posix } from 'node:path'
import { gitBlobId } from '../../io/sha256.ts'
import { charsOf, globRegExp } from '../glob-reg-exp.ts'
import type { World } from '../world.ts'

/** What the index of a repository says of its files; null outside of a repository. */
export function trackedFiles(world: World, cwd: string | null) {
  const top = cwd === null ? null : repositoryOf(cwd, world)
  if (top === null) return null
  const index = world.readText(`${gitDirectory(top, world).own}/index`, maxIndex) ?? ''
  const nameOf = (path: string): string => (path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path)
  const has = (path: string): boolean => index.includes(`${nameOf(path)}\0`)
  return {
    /** The top of the working tree. */
    top,
    /** Is it in the index? By its absolute path. */
    has,
    /** Whether the index has other content than the disk. Always false for content that is not text. */
    isChanged: (path: string): boolean =>
      has(path) && !isInIndex(nameOf(path), world.readText(path, maxFile)),
  }

  /**
   * The index contains the id of the content right before the name. It was read as text, so bytes that are not text are lost; but
   * a character begins within any four bytes, and from there on the same bytes give the same text.
   */
  function isInIndex(name: string, content: string | null): boolean {
    if (content === null || content.includes('\ufffd')) return content !== null
    const id = gitBlobId(Buffer.from(content))
    const length = Math.min(Buffer.byteLength(name), 0xfff)
    const entry = Buffer.concat([id, Buffer.from([length >> 8, length & 0xff]), Buffer.from(`${name}\0`)])
    return [0, 1, 2, 3].some((from) => index.includes(entry.subarray(from).toString('utf8')))
  }
}

export const maxIndex = 8_388_608
const maxFile = 1_048_576

export function repositoryOf(cwd: string, world: World): string | null {
  for (let at = cwd; ; at = posix.dirname(at)) {
    const path = `${at === '/' ? '' : at}/.git`
    if (world.list(path) !== null || world.readText(path, maxPointer)?.startsWith('gitdir:') === true)
      return at
    if (at === '/' || !at.startsWith('/')) return null
  }
}

const maxPointer = 4096

/** The git directory of a working tree, and the one that all its worktrees share. In a worktree or a submodule `.git` is a file. */
export function gitDirectory(top: string, world: World): { readonly own: string; readonly shared: string } {
  const pointer = /^gitdir:\s*(.+?)\s*$/m.exec(world.readText(`${top}/.git`, maxPointer) ?? '')?.[1]
  const own = pointer === undefined ? `${top}/.git` : posix.resolve(top, pointer)
  const shared = pointer === undefined ? null : world.readText(`${own}/commondir`, maxPointer)
  return { own, shared: shared === null ? own : posix.resolve(own, shared.trim()) }
}

/**
 * Which files `git clean` would remove, as far as the files of the repository show: not those in the index, not those that git is set to
 * keep and, without `-x`, not those that are ignored.
 */
export function untracked(
  world: World,
  cwd: string | null,
  { ignored, kept }: { readonly ignored: boolean; readonly kept: readonly string[] },
): (path: string) => boolean {
  const root = cwd === null ? null : repositoryOf(cwd, world)
  const git = root === null ? null : gitDirectory(root, world)
  const index = git === null ? null : world.readText(`${git.own}/index`, maxIndex)
  const rulesIn = (file: string): readonly Ignored[] =>
    (world.readText(file, 65_536) ?? '')
      .split('\n')
      .map(matcher)
      .filter((each) => each !== null)
  const shared =
    ignored || root === null || git === null
      ? []
      : [...rulesIn(`${git.shared}/info/exclude`), ...rulesIn(`${root}/.gitignore`)]
  const spared = [...kept.map(matcher).filter((each) => each !== null), ...shared]
  return (path) => {
    const relative = root !== null && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    if (index?.includes(`${relative}\0`) === true) return false
    if (spared.some((matches) => matches(relative))) return false
    return (
      ignored ||
      root === null ||
      !inner(relative).some(([file, rest]) => rulesIn(file).some((each) => each(rest)))
    )
  }

  /** The ignore files of the directories above a path, each with the path from there. A directory may ignore all it contains. */
  function inner(relative: string): readonly (readonly [string, string])[] {
    const parts = relative.split('/')
    return parts.map((_, at) => [
      `${root}/${parts.slice(0, at + 1).join('/')}/.gitignore`,
      parts.slice(at + 1).join('/') || 'anything',
    ])
  }
}

type Ignored = (relative: string) => boolean

/** The common forms of an ignore pattern; a negated one is not followed, it spares nothing. */
function matcher(line: string): Ignored | null {
  const pattern = line.trim().replace(/^\//, '').replace(/\/$/, '')
  if (pattern === '' || /^[#!]/.test(line.trim())) return null
  const anchored = /\//.test(line.trim().replace(/\/$/, ''))
  const matches = globRegExp(charsOf(pattern.replace(/^\*\*\//, ''), false), {
    across: pattern.includes('**'),
  })
  if (matches === null) return null
  return (relative) => {
    const parts = relative.split('/')
    return parts.some((_, index) =>
      anchored && !pattern.startsWith('**/')
        ? matches.test(parts.slice(0, index + 1).join('/'))
        : matches.test(parts[index] ?? ''),
    )
  }
}
