import { isAbsolute, relative } from 'node:path'
import { readTextInside } from '../../../io/files.ts'
import { gitFiles } from '../../../io/git-files.ts'
import { openRepository } from '../../../io/git-repository.ts'
import { listFiles } from '../../../io/list-files.ts'
import { pathBelow } from '../../../io/path-below.ts'
import { whyUnreadable } from '../../why-unreadable.ts'

async function listedByGit(workspace: string): Promise<readonly string[] | null> {
  const repository = await openRepository(workspace)
  // A workspace that is ignored by an outer repository would seem empty.
  const ignored = await repository?.run(['check-ignore', '--quiet', '.'], { cwd: workspace })
  return ignored?.exitCode === 0 ? null : gitFiles(workspace)
}

function exclude(path: string, isDirectory: boolean): boolean {
  return isDirectory && /(^|\/)(node_modules|\.git)$/.test(path)
}

/**
 * Files below a directory of the workspace, relative to the workspace and sorted: those that git does not ignore, or, without git, all
 * except those of installed packages. Symlinks are listed, never followed. `place` is absolute, and may be a file.
 */
export async function filesBelow(workspace: string, place: string): Promise<readonly string[]> {
  const files = (await listedByGit(workspace)) ?? listFiles(workspace, { exclude })
  const below = relative(workspace, place)
  if (below === '') return files
  return files.filter((path) => path === below || path.startsWith(`${below}/`))
}

type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly problem: string }

/** A text file of the workspace, or why it cannot be read, as a sentence for the model. */
export function readFile(workspace: string, path: string): FileText {
  const file = readTextInside(workspace, workspacePath(workspace, path))
  if (file.kind !== 'text') return { kind: 'unreadable', problem: whyUnreadable(path, file) }
  if (file.text.includes('\0')) return { kind: 'unreadable', problem: `${path} is a binary file.` }
  return { kind: 'text', text: file.text }
}

/** Models often write absolute paths. A path inside the workspace becomes relative to it, any other is unchanged. */
export function workspacePath(workspace: string, path: string): string {
  return isAbsolute(path) ? (pathBelow(workspace, path) ?? path) : path
}
