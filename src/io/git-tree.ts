import { readListing } from './git-listing.ts'
import type { GitRepository } from './git-repository.ts'

/**
 * What git knows about a working tree, and which paths have to be checked. Paths are relative to `top`, one character per byte. null when
 * git does not answer. `leaveOut` is called for untracked files.
 */
export async function readGitTree(
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
