import { basename, dirname, join, resolve } from 'node:path'
import { namesIn } from '../../io/directory.ts'
import { openRepository } from '../../io/git-repository.ts'
import { changedAtMs, entryKind, pathKind } from '../../io/path-kind.ts'
import { readShortText } from '../../io/read-short-text.ts'
import type { PutAwayWork } from '../contract.ts'
import { documentationMatcher } from '../gate/change-influence.ts'
import { type ChangesRequest, gitTimeoutMs, idsByPath, isSource, readManifest } from './tree-changes.ts'

interface KeptRequest extends Pick<ChangesRequest, 'root' | 'trees' | 'documentation'> {
  readonly home: string
  readonly tree: string
  /** Command lines after an edit that may have copied files. */
  readonly commands: readonly string[]
  readonly sinceMs: number
}

const maxFiles = 200
const maxBytes = 1024 * 1024

/**
 * Work that was copied out of the tree before the files were put back to what they were: a patch, an archive, or a source that the tree
 * does not have. null when there is none.
 */
export async function keptElsewhere(request: KeptRequest): Promise<PutAwayWork | null> {
  const { root, trees, tree, commands } = request
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository === null) return null
  if (commands.some((command) => gitObject.test(command))) return kept('an object of git')
  const ids = idsByPath(readManifest(trees, tree) ?? [])
  const known = new Set(ids.values())
  const isDocumentation = documentationMatcher(request.documentation)
  const succeeds = async (...args: readonly string[]): Promise<boolean> =>
    (await repository.run(args)).exitCode === 0
  for (const path of commands.flatMap((command) => writtenFiles(command, request))) {
    if (path.startsWith(`${root}/`) && ids.has(path.slice(root.length + 1))) continue
    if (archive.test(path)) return kept(path)
    const text = readShortText(path, maxBytes) ?? ''
    if (/^(?:diff --git |From [0-9a-f]{40} |# v\d git bundle)/m.test(text)) {
      const files = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, name = '']) => name)
      const isPlain = files.length > 0 && files.every(isDocumentation)
      if (!isPlain && !(await succeeds('apply', '--check', '--reverse', path))) return kept(path)
    } else if ([path, path.replace(/[.~]\w*$/, '')].some((name) => isSource.test(name)) && text !== '') {
      const { stdout } = await repository.run(['hash-object', '--no-filters', path])
      if (!known.has(stdout.toString().trim())) return kept(path)
    }
  }
  return null
}

function kept(path: string): PutAwayWork {
  return { branch: path, commit: '', file: path, isCopy: true }
}

const archive = /\.(?:tar|t?gz|tbz2?|bz2|txz|xz|zst|zip|7z|bundle)$/
const gitObject = /\bgit\b[^;&]*\b(?:notes\s+(?:add|append)|hash-object\s+-w)\b/

/** Files that the words of a command line name and that are new since the work began. A word need not be a path. */
function writtenFiles(command: string, { root, home, sinceMs }: KeptRequest): readonly string[] {
  const words = command.split(/[\s;&|()<>"'=]+/).filter((word) => word !== '')
  const names = new Set(words.map((word) => basename(word)))
  const shared = new Set([home, '/', '/tmp', '/dev', '/dev/shm', dirname(root), root])
  const found: string[] = []
  const visit = (path: string, depth: number): void => {
    if (found.length >= maxFiles || changedAtMs(path) < sinceMs) return
    if (entryKind(path) === 'file') found.push(path)
    if (entryKind(path) !== 'directory' || depth > 3) return
    for (const name of namesIn(path))
      if (!shared.has(path) || names.has(name)) visit(join(path, name), depth + 1)
  }
  for (const word of words) {
    const path = resolve(root, word.replace(/^(?:~|\$HOME|\$\{HOME\}|\$TMPDIR)(?=\/|$)/, home))
    if (/[~$./]/.test(word) && pathKind(path) !== null) visit(path, 0)
  }
  return found
}
