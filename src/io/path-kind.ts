import { statSync } from 'node:fs'

/** What stands at a path, links followed; null when nothing does. */
export function pathKind(path: string): 'file' | 'directory' | 'other' | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (stats.isFile()) return 'file'
  return stats.isDirectory() ? 'directory' : 'other'
}

export function isFile(path: string): boolean {
  return pathKind(path) === 'file'
}

export function isDirectory(path: string): boolean {
  return pathKind(path) === 'directory'
}
