import { join } from 'node:path'
import { copyFileInto, sameContent } from '../io/copy-file-into.ts'
import { copyTree } from '../io/copy-tree.ts'
import { makeDirectories } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { isRealDirectory } from '../io/list-directory.ts'
import { isDirectory, isFile } from '../io/path-kind.ts'
import type { Case } from './case.ts'
import type { TrialPlace } from './trial-work.ts'

/** Folder of a template whose content lies at the root of the workspace. */
export const initialState = 'initial-state'

/** A fresh workspace: the template, then `initial-state/` over its root, and an empty HOME and TMPDIR beside it. */
export async function prepareWorkspace(
  { templateDir, oracleFiles }: Case,
  place: TrialPlace,
  { withOracle }: { readonly withOracle: boolean },
): Promise<void> {
  const hidden = new Set(withOracle ? [] : oracleFiles)
  await copyTree(templateDir, place.fixture, {
    exclude: (path) => path === initialState || hidden.has(path),
  })
  const initial = join(templateDir, initialState)
  if (isDirectory(initial)) await copyTree(initial, place.fixture, { exclude: (path) => hidden.has(path) })
  makeDirectories(place.home)
  makeDirectories(place.tmp)
}

/**
 * Makes anew what an agent removed or replaced by a link: the evaluation works in the trial's own directories and never
 * where an agent points it. True when the workspace itself was lost.
 */
export function restorePlaces({ fixture, home, tmp }: TrialPlace): boolean {
  const lost = [fixture, home, tmp].filter((path) => !isRealDirectory(path))
  for (const path of lost) {
    removeTree(path)
    makeDirectories(path)
  }
  return lost.includes(fixture)
}

/**
 * Puts back the scripts that grade the agent where it changed or removed them: an agent must not write its own marks.
 * Returns the paths that were touched.
 */
export function restoreGraderFiles({ templateDir, graderFiles }: Case, place: TrialPlace): string[] {
  const initial = join(templateDir, initialState)
  return graderFiles.filter((path) => {
    const original = join(isFile(join(initial, path)) ? initial : templateDir, path)
    if (sameContent(original, join(place.fixture, path))) return false
    copyFileInto(original, place.fixture, path)
    return true
  })
}
