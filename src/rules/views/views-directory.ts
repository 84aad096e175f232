import { isAbsolute } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { resolveInside } from '../../io/resolve-inside.ts'

/**
 * Where the views are written. A directory the settings name by an absolute path is theirs to choose; a relative one stays in
 * the project, because whoever works there could have put a link in its place.
 */
export function viewsDirectory(root: string, stateDir: string): string {
  if (isAbsolute(stateDir)) return stateDir
  const where = resolveInside(root, stateDir)
  if (where.kind !== 'outside') return where.path
  throw new GantryError('UNSAFE_PATH', `the state directory ${stateDir} is not used: ${where.reason}`)
}
