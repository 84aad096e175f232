import { readFileSync, statSync } from 'node:fs'

/** The text of a regular file that is not longer; null for anything else. Never waits, as reading a pipe would. */
export function readShortText(path: string, maxBytes: number): string | null {
  if (path.includes('\0')) return null
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined || !stats.isFile() || stats.size > maxBytes) return null
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
