import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { orElse } from './fs-error.ts'
import { sha256 } from './sha256.ts'

/** SHA-256 over all parts, each with its length, so moving text between parts changes the hash. */
export function contentHash(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part)
  return hash.digest('hex')
}

/** Larger files are identified by size and modification time, because hashing an agent's binary would take seconds. */
const maxHashedBytes = 50 * 1024 * 1024

/** Changes with the content of the file; null when it cannot be read. */
export function fileHash(path: string): string | null {
  return orElse(null, () => {
    const { size, mtimeMs } = statSync(path)
    return size > maxHashedBytes ? `size ${size}, changed ${mtimeMs}` : sha256(readFileSync(path))
  })
}

/** Distinguishes two states of a file without reading it, because agents' programs have hundreds of megabytes. Empty when it does not exist. */
export function fileIdentity(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.size}-${found.mtimeMs}`
}
