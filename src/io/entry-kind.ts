import { lstatSync } from 'node:fs'
import type { Path } from './list-directory.ts'

/** What stands at a path, a link being a link; null when nothing does or it cannot be looked at. */
export function entryKind(path: Path): 'file' | 'directory' | 'link' | 'other' | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return null
    if (stats.isFile()) return 'file'
    if (stats.isDirectory()) return 'directory'
    return stats.isSymbolicLink() ? 'link' : 'other'
  } catch {
    return null
  }
}
