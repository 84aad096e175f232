import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomSuffix } from './ids.ts'

/**
 * A file without a name that holds a child's whole stdin, open at its beginning. Unlike a pipe it cannot break when the child does
 * not read, and unlike Node's socket it can be opened again through `/dev/stdin`. null where it cannot be made: the caller then
 * writes into a stream.
 */
export function openInputFile(content: string | Uint8Array): number | null {
  if (process.platform === 'win32') return null
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  let fd: number | null = null
  try {
    const path = join(tmpdir(), `gantry-stdin-${process.pid}-${randomSuffix(12)}`)
    fd = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    // Writes at a position leave the place where the child begins to read at 0.
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at)
    return fd
  } catch {
    if (fd !== null) closeSync(fd)
    return null
  }
}
