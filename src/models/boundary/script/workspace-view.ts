import { isAbsolute, relative, resolve } from 'node:path'
import { readTextInside } from '../../../io/files.ts'
import { resolveInside } from '../../../io/resolve-inside.ts'

/** What a script may know of the workspace when it puts a call into an agent's words. */
export interface WorkspaceView {
  /** As agents want it that take absolute paths only. Unchanged when the workspace is not known. */
  absolute(path: string): string
  /** Relative to the workspace where it lies in it. */
  relative(path: string): string
  /** null when it is not in the workspace, or that is not known. */
  exists(path: string): boolean | null
  /** null when it is not there, not in the workspace, or no text. */
  read(path: string): string | null
}

export function viewWorkspace(workspace: string | undefined): WorkspaceView {
  if (workspace === undefined)
    return { absolute: (path) => path, relative: (path) => path, exists: () => null, read: () => null }
  const below = (path: string): string => {
    const inside = relative(workspace, resolve(workspace, path))
    return inside.startsWith('..') || isAbsolute(inside) ? path : inside || '.'
  }
  return {
    absolute: (path) => resolve(workspace, path),
    relative: below,
    exists(path) {
      const { kind } = resolveInside(workspace, below(path))
      return kind === 'outside' ? null : kind === 'inside'
    },
    read(path) {
      const file = readTextInside(workspace, below(path))
      return file.kind === 'text' ? file.text : null
    },
  }
}
