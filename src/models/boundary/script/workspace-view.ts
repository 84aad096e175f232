import { resolve } from 'node:path'
import { pathBelow } from '../../../io/path-below.ts'
import { textInside } from '../../../io/read-text-inside.ts'
import { resolveInside } from '../../../io/resolve-inside.ts'

/** Access to the workspace for translating a call to an agent's tools. */
export interface WorkspaceView {
  /** The absolute path, for agents that require it. Unchanged when the workspace is unknown. */
  absolute(path: string): string
  /** Relative to the workspace when it is inside. */
  relative(path: string): string
  /** null when it is outside the workspace, or the workspace is unknown. */
  exists(path: string): boolean | null
  /** null when it does not exist, is outside the workspace, or is not text. */
  read(path: string): string | null
}

export function viewWorkspace(workspace: string | undefined): WorkspaceView {
  if (workspace === undefined)
    return { absolute: (path) => path, relative: (path) => path, exists: () => null, read: () => null }
  const below = (path: string): string => {
    const inside = pathBelow(workspace, resolve(workspace, path))
    return inside === null ? path : inside || '.'
  }
  return {
    absolute: (path) => resolve(workspace, path),
    relative: below,
    exists(path) {
      const { kind } = resolveInside(workspace, below(path))
      return kind === 'outside' ? null : kind === 'inside'
    },
    read: (path) => textInside(workspace, below(path)),
  }
}
