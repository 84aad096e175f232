import { join } from 'node:path'
import { infoExclude } from '../../io/git-directories.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { sha256 } from '../../io/sha256.ts'
import { treeHash } from '../../io/tree-hash.ts'
import { planSource } from '../project/declaring-files.ts'
import { ignoresItself, isViewFile, stateDirectory, viewFiles } from '../views/state-directory.ts'

/** What tools leave behind in a project whose owner does not ignore it: running the tests must not make their evidence stale. */
const byproducts = new Set([
  'node_modules',
  '.harness',
  '__pycache__',
  '.venv',
  '.ruff_cache',
  '.pytest_cache',
  '.coverage',
])

/** A longer one counts as it is. */
const maxPlanBytes = 4 * 1024 * 1024

/**
 * What the evidence is bound to: the content of the working tree, and what git is told to overlook in it by a file that is no
 * part of it. In the plan a box counts the same whether it is ticked or not: a task is ticked off after its verification. `root` is the top of the project, `stateDir` the directory of the guard's own views.
 */
export async function treeFingerprint(root: string, stateDir: string): Promise<string> {
  const views = ownViews(root, stateDir)
  const leaveOut = (path: string): boolean =>
    path.endsWith('.pyc') || path.split('/').some((name) => byproducts.has(name)) || views(path)
  const tasks = readShortText(join(root, planSource), maxPlanBytes)?.replaceAll(
    /^([ \t]*[-*+] \[)[ xX](?=\])/gm,
    '$1 ',
  )
  const { hash } = await treeHash(root, {
    leaveOut,
    gitTimeoutMs,
    ...(tasks !== undefined && { omit: [planSource] }),
  })
  return sha256(`${hash}\n${infoExclude(root)}\n${tasks ?? ''}`)
}

/** Only what the guard writes there: whatever else lies in a directory the settings name belongs to the tree. */
function ownViews(root: string, stateDir: string): (path: string) => boolean {
  const state = stateDirectory(root, stateDir)
  if (state.kind === 'refused' || state.below === null) return () => false
  // Paths of a tree have one character per byte.
  const start = `${Buffer.from(state.below).toString('latin1')}/`
  const isIgnoreFile = ignoresItself(state.path)
  return (path) => {
    if (!path.startsWith(start)) return false
    const name = path.slice(start.length)
    return name === viewFiles.ignore ? isIgnoreFile : isViewFile(name)
  }
}

/**
 * How long one call of git may take on the way of a hook. Half of what the shortest hook that asks git has: what is done without
 * git's answer must fit in the other half.
 */
export const gitTimeoutMs = 4_000
