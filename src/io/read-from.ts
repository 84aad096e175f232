import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'
import { isEndless } from './path-kind.ts'

/**
 * The bytes from the offset to the end, empty when the file is missing or shorter, and the size of the file. `state` changes with
 * every change of the file and cannot be reset; null when the file is missing.
 */
export function readFrom(path: string, offset: number) {
  let fd: number
  try {
    // Usually there is nothing new. One stat is enough then, while an error costs as much as five.
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined || (!stats.isFile() && isEndless(path)))
      return { bytes: Buffer.alloc(0), size: 0, state: null }
    if (stats.isFile() && stats.size <= offset)
      return { bytes: Buffer.alloc(0), size: stats.size, state: stateFrom(stats) }
    fd = openSync(path, 'r')
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return { bytes: Buffer.alloc(0), size: 0, state: null }
    throw translateFsError(cause, `read ${path}`)
  }
  try {
    const now = fstatSync(fd)
    const { size } = now
    const bytes = Buffer.allocUnsafe(Math.max(size - offset, 0))
    let filled = 0
    while (filled < bytes.length) {
      const count = readSync(fd, bytes, filled, bytes.length - filled, offset + filled)
      if (count === 0) break
      filled += count
    }
    return { bytes: bytes.subarray(0, filled), size, state: stateFrom(now) }
  } catch (cause) {
    throw translateFsError(cause, `read ${path}`)
  } finally {
    closeSync(fd)
  }
}

/** 0 when it is not there. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** As `readFrom` returns it. */
export function stateOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : stateFrom(stats)
}

function stateFrom({ dev, ino, size, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${ctimeMs}`
}
