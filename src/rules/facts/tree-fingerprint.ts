import { join, posix } from 'node:path'
import { infoExclude } from '../../io/info-exclude.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { sha256 } from '../../io/sha256.ts'
import { treeHash } from '../../io/tree-hash.ts'
import { planSource } from '../project/declaring-files.ts'

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
  const state = `${posix.normalize(stateDir).replace(/\/+$/, '')}/`
  const leaveOut = (path: string): boolean =>
    path.startsWith(state) || path.endsWith('.pyc') || path.split('/').some((name) => byproducts.has(name))
  const tasks = readShortText(join(root, planSource), maxPlanBytes)?.replaceAll(
    /^([ \t]*[-*+] \[)[ xX](?=\])/gm,
    '$1 ',
  )
  const { hash } = await treeHash(root, { leaveOut, ...(tasks !== undefined && { omit: [planSource] }) })
  return sha256(`${hash}\n${infoExclude(root)}\n${tasks ?? ''}`)
}
