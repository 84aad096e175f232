import { readFileSync, statSync } from 'node:fs'
import { orElse } from './fs-error.ts'

/** The text of a regular file up to the limit; null for anything else. Never blocks, as reading a pipe would. */
export function readShortText(path: string, maxBytes: number): string | null {
  if (path.includes('\0')) return null
  return orElse(null, () => {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isFile() && stats.size <= maxBytes ? readFileSync(path, 'utf8') : null
  })
}
