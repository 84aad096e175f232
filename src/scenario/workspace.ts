import { basename, join } from 'node:path'
import { counted } from '../core/counted.ts'
import { nullAfterError } from '../core/error.ts'
import { copyFileInto, sameContent } from '../io/copy-file-into.ts'
import { copyTree } from '../io/copy-tree.ts'
import { makeDirectories } from '../io/directory.ts'
import { readTextInside, removeTree, writeFileAtomic } from '../io/files.ts'
import { isRealDirectory } from '../io/list-directory.ts'
import { listFiles } from '../io/list-files.ts'
import { changedAtMs, isDirectory, isFile } from '../io/path-kind.ts'
import type { Case } from './case.ts'
import type { TrialPlace } from './trial-work.ts'

/** Folder of a template whose content is copied to the root of the workspace. */
export const initialState = 'initial-state'

/** What is in a workspace besides the template. */
export interface WorkspaceExtras {
  /** Whether the files of the scenario's oracle are in it. */
  readonly withOracle: boolean
  /** The files of an arm, laid over all others. */
  readonly overlay?: string | null
}

/** A fresh workspace: the template, then `initial-state/` over its root, then an overlay, and an empty HOME and TMPDIR beside it. */
export async function prepareWorkspace(
  { templateDir, oracleFiles }: Case,
  place: TrialPlace,
  { withOracle, overlay = null }: WorkspaceExtras,
): Promise<void> {
  const hidden = new Set(withOracle ? [] : oracleFiles)
  await copyTree(templateDir, place.fixture, { exclude: (path) => path === initialState || hidden.has(path) })
  const initial = join(templateDir, initialState)
  if (isDirectory(initial)) await copyTree(initial, place.fixture, { exclude: (path) => hidden.has(path) })
  if (overlay !== null) await copyTree(overlay, place.fixture)
  makeDirectories(place.home)
  makeDirectories(place.tmp)
}

/**
 * Recreates directories that the agent removed or replaced by a link: the evaluation uses only the trial's own directories, never
 * a path chosen by the agent. Returns true when the workspace itself was lost.
 */
export function restorePlaces({ fixture, home, tmp }: TrialPlace): boolean {
  const lost = [fixture, home, tmp].filter((path) => !isRealDirectory(path))
  for (const path of lost) {
    removeTree(path)
    makeDirectories(path)
  }
  return lost.includes(fixture)
}

/** Restores grading scripts that the agent changed or removed. Returns their paths. */
export function restoreGraderFiles({ templateDir, graderFiles }: Case, place: TrialPlace): string[] {
  const initial = join(templateDir, initialState)
  return graderFiles.filter((path) => {
    const original = join(isFile(join(initial, path)) ? initial : templateDir, path)
    if (sameContent(original, join(place.fixture, path))) return false
    copyFileInto(original, place.fixture, path)
    return true
  })
}

/** Folders in which a change is made by a tool rather than by the agent. */
const omittedFolders = new Set(['.git', 'node_modules', '.venv', '__pycache__'])
const maxDiffFiles = 200
const maxFileBytes = 256 * 1024
const maxDiffChars = 1_000_000

/**
 * Writes `workspace.diff`: what changed since `sinceMs`, against the template. Writes nothing when nothing changed. A file that only
 * the setup changed is not part of it.
 */
export async function writeWorkspaceDiff(
  { templateDir, oracleFiles }: Case,
  place: TrialPlace,
  sinceMs: number,
  redact: (text: string) => string,
  overlay: string | null = null,
): Promise<void> {
  const { fixture } = place
  const isOmitted = (path: string): boolean => omittedFolders.has(basename(path))
  const initial = join(templateDir, initialState)
  const hidden = new Set(oracleFiles)
  const originals = new Map(
    listFiles(templateDir, { exclude: (path) => path === initialState || isOmitted(path) }).map((path) => [
      path,
      templateDir,
    ]),
  )
  for (const layer of [isDirectory(initial) ? initial : null, overlay]) {
    if (layer === null) continue
    for (const path of listFiles(layer, { exclude: isOmitted })) originals.set(path, layer)
  }
  // An agent can make a tree that cannot be listed, such as one too deep for a path. The diff is only for people.
  const listed = nullAfterError(() => listFiles(fixture, { exclude: isOmitted }))
  if (listed === null) return
  const present = new Set(listed)
  const changed = [...present].filter((path) => {
    // The kernel's clock for files is a few milliseconds coarse.
    if (changedAtMs(join(fixture, path)) < sinceMs - 10) return false
    const origin = originals.get(path)
    return (
      origin === undefined || textOf(origin, path) === null || textOf(origin, path) !== textOf(fixture, path)
    )
  })
  const deleted = [...originals.keys()].filter((path) => !present.has(path) && !hidden.has(path))
  const paths = [...changed, ...deleted].sort()
  if (paths.length === 0) return
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  let text = ''
  for (const [index, path] of paths.entries()) {
    if (index >= maxDiffFiles || text.length >= maxDiffChars) {
      text += `# ${counted(paths.length - index, 'more file')} changed\n`
      break
    }
    const origin = originals.get(path)
    const before = origin === undefined ? '' : textOf(origin, path)
    const after = present.has(path) ? textOf(fixture, path) : ''
    const names = [origin === undefined ? '/dev/null' : path, present.has(path) ? path : '/dev/null'] as const
    const patch =
      before === null || after === null
        ? undefined
        : createTwoFilesPatch(...names, before, after, undefined, undefined, {
            context: 3,
            headerOptions: FILE_HEADERS_ONLY,
            maxEditLength: 4_000,
          })
    text += patch ?? `--- ${names[0]}\n+++ ${names[1]}\n# not shown: binary, a link, or too large\n`
  }
  writeFileAtomic(place.diff, redact(text))
}

/** null: not a text that can be shown. Never follows a link out of the directory. */
function textOf(root: string, path: string): string | null {
  const file = readTextInside(root, path, { maxBytes: maxFileBytes })
  return file.kind === 'text' && !file.text.includes('\0') ? file.text : null
}
