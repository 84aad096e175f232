import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { sha256 } from './sha256.ts'

/** SHA-256 over all parts, each with its length, so that moving text from one part to the next changes the hash. */
export function contentHash(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part)
  return hash.digest('hex')
}

/** Past this a file is known by its size and time of change: hashing the binary of an agent would take seconds. */
const maxHashedBytes = 50 * 1024 * 1024

/** Changes when the content of the file does; null when it cannot be read. */
export function fileHash(path: string): string | null {
  try {
    const stats = statSync(path)
    if (stats.size > maxHashedBytes) return `size ${stats.size}, changed ${stats.mtimeMs}`
    return sha256(readFileSync(path))
  } catch {
    return null
  }
}

/** Tells two states of a file apart without reading it: programs of agents have hundreds of megabytes. Empty when it is not there. */
export function fileIdentity(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.size}-${found.mtimeMs}`
}
