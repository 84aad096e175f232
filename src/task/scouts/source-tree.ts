import { listFiles, readTextInside } from '../../io/files.ts'
import { openRepository } from '../../io/git-repository.ts'
import { isExcluded } from './excluded.ts'

/** The files of a repository a Scout may see. Texts are read when asked for, and once. */
export interface SourceTree {
  /** Relative to the repository, with `/`, sorted. */
  readonly paths: readonly string[]
  /** Files that were left out because there are too many. */
  readonly omitted: number
  /** null for what is no text, too large, or gone. */
  text(path: string): string | null
  /** null when there is no such file. */
  lineCount(path: string): number | null
}

const maxFiles = 20_000
const maxBytes = 512 * 1024

/** What git would track, or every file where there is no git; only below `packageDir` when the task is confined to it. */
export async function readSourceTree(root: string, packageDir: string | null): Promise<SourceTree> {
  const isWanted = (path: string): boolean =>
    !isExcluded(path) && (packageDir === null || path.startsWith(`${packageDir}/`))
  const all = (await listWithGit(root)) ?? listFiles(root, { exclude: (path) => isExcluded(path) })
  const wanted = all.filter(isWanted).sort()
  const texts = new Map<string, string | null>()
  const text = (path: string): string | null => {
    const known = texts.get(path)
    if (known !== undefined) return known
    const read = readTextInside(root, path, { maxBytes })
    const found = read.kind === 'text' && !read.text.includes('\0') ? read.text : null
    texts.set(path, found)
    return found
  }
  const paths = wanted.slice(0, maxFiles)
  const known = new Set(paths)
  return {
    paths,
    omitted: wanted.length - paths.length,
    text: (path) => (known.has(path) ? text(path) : null),
    lineCount: (path) => {
      if (!known.has(path)) return null
      const found = text(path)
      return found === null ? null : linesOf(found)
    },
  }
}

function linesOf(text: string): number {
  if (text === '') return 0
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

async function listWithGit(root: string): Promise<readonly string[] | null> {
  const repository = await openRepository(root)
  if (repository === null) return null
  const { exitCode, stdout } = await repository.run(
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    { cwd: root },
  )
  if (exitCode !== 0) return null
  return [...new Set(stdout.toString('utf8').split('\0'))].filter((path) => path !== '')
}
