import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'

export interface ReadFrom {
  /** From the offset to the end; nothing when the file is not there or ends before it. */
  readonly bytes: Buffer
  /** Of the file; 0 when it is not there. */
  readonly size: number
  /** A new value after every change of the file. No program can set it back. null when the file is not there. */
  readonly state: string | null
}

export function readFrom(path: string, offset: number): ReadFrom {
  let fd: number
  try {
    // Mostly there is nothing new, or nothing at all: one look is enough then, where an error would cost as much as five.
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return { bytes: Buffer.alloc(0), size: 0, state: null }
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
