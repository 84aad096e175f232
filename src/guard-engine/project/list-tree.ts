import { openRepository } from '../../io/git-repository.ts'
import { joinPath, listDirectory, type Path, toBytes } from '../../io/list-directory.ts'
import { gitTimeoutMs } from '../facts/git-timeout-ms.ts'
import { isIgnoredName } from './ignored-names.ts'

export interface TreeListing {
  /** Files and directories to the wanted depth, one character per byte; directories end in `/`. */
  readonly known: ReadonlySet<string>
  /** false: the walk ended at its bound, and there may be more. */
  readonly complete: boolean
}

/** What is in a project to some depth. Git knows what is ignored; where there is none, a walk takes all but the usual names. */
export async function listTree(root: string, depth: number): Promise<TreeListing> {
  const listed = await listWithGit(root, depth)
  // A directory that the repository around it ignores has nothing git would list.
  return listed !== null && listed.size > 0 ? { known: listed, complete: true } : walkTree(root, depth)
}

async function listWithGit(root: string, depth: number): Promise<ReadonlySet<string> | null> {
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository === null) return null
  const { exitCode, stdout } = await repository.run(
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    { cwd: root },
  )
  if (exitCode !== 0) return null
  const known = new Set<string>()
  let last = ''
  for (const path of stdout.toString('latin1').split('\0')) {
    // Files of one deep directory come one after the other: nothing new is to be learnt from all but the first.
    if (path === '' || (last !== '' && path.startsWith(last))) continue
    last = addPath(known, path, depth)
  }
  return known
}

/** Adds the entries on the way to a file. Returns the directory below which nothing more is wanted, or nothing. */
function addPath(known: Set<string>, path: string, depth: number): string {
  let start = 0
  for (let level = 0; level < depth; level += 1) {
    const slash = path.indexOf('/', start)
    const name = slash === -1 ? path.slice(start) : path.slice(start, slash)
    if (name === '') return ''
    const entry = slash === -1 ? path : path.slice(0, slash + 1)
    if (isIgnoredName(name)) return slash === -1 ? '' : entry
    known.add(entry)
    if (slash === -1) return ''
    start = slash + 1
  }
  return path.slice(0, start)
}

const maxDirectories = 2000
const maxEntries = 20_000

/** Level by level, so that a bound cuts off the deepest. Links are listed and not followed. */
export function walkTree(root: string, depth: number): TreeListing {
  const known = new Set<string>()
  let level: { readonly directory: Path; readonly prefix: string }[] = [{ directory: root, prefix: '' }]
  let read = 0
  for (let left = depth; left > 0 && level.length > 0; left -= 1) {
    const next: typeof level = []
    for (const { directory, prefix } of level) {
      if (read === maxDirectories || known.size >= maxEntries) return { known, complete: false }
      read += 1
      for (const entry of entriesOf(directory)) {
        const name = toBytes(entry.name).toString('latin1')
        if (isIgnoredName(name)) continue
        if (!entry.isDirectory()) known.add(prefix + name)
        else {
          known.add(`${prefix}${name}/`)
          next.push({ directory: joinPath(directory, entry.name), prefix: `${prefix}${name}/` })
        }
      }
    }
    level = next.sort((a, b) => (a.prefix < b.prefix ? -1 : 1))
  }
  return { known, complete: true }
}

/** A directory that is closed to us, or just went away, tells nothing. */
function entriesOf(directory: Path): ReturnType<typeof listDirectory> {
  try {
    return listDirectory(directory)
  } catch {
    return []
  }
}
