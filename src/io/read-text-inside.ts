import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { errnoOf } from './fs-error.ts'
import { resolveInside } from './resolve-inside.ts'

export type InsideText =
  | { readonly kind: 'text'; readonly text: string; readonly path: string }
  | { readonly kind: 'outside'; readonly reason: string }
  | { readonly kind: 'missing'; readonly path: string }
  | { readonly kind: 'not_a_file'; readonly path: string; readonly what: string }
  | { readonly kind: 'too_large'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'unreadable'; readonly path: string; readonly reason: string }

const defaultMaxBytes = 16 * 1024 * 1024

/**
 * Reads a text file that an agent may have made: never through a link that leads out of `root`, never waiting on a FIFO
 * or a device, never more than `maxBytes`. Bytes that are not UTF-8 become U+FFFD.
 */
export function readTextInside(
  root: string,
  relative: string,
  { maxBytes = defaultMaxBytes }: { readonly maxBytes?: number } = {},
): InsideText {
  const where = resolveInside(root, relative)
  if (where.kind !== 'inside') return where
  const { path } = where
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (cause) {
    return unopened(path, cause)
  }
  try {
    return readOpen(fd, path, maxBytes)
  } catch (cause) {
    return { kind: 'unreadable', path, reason: reasonOf(cause) }
  } finally {
    closeSync(fd)
  }
}

function unopened(path: string, cause: unknown): InsideText {
  switch (errnoOf(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { kind: 'missing', path }
    // What a socket, or a device without a driver, answers.
    case 'ENXIO':
    case 'ENODEV':
      return { kind: 'not_a_file', path, what: 'a socket or a device' }
    default:
      return { kind: 'unreadable', path, reason: reasonOf(cause) }
  }
}

function readOpen(fd: number, path: string, maxBytes: number): InsideText {
  const stats = fstatSync(fd)
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a FIFO' : 'a socket or a device'
    return { kind: 'not_a_file', path, what }
  }
  if (stats.size > maxBytes) return { kind: 'too_large', path, bytes: stats.size }
  // A file may still grow, and the files of /proc report a size of 0: the limit counts what is read.
  const chunks: Buffer[] = []
  let bytes = 0
  let room = Buffer.allocUnsafe(Math.min(stats.size, maxBytes) + 1)
  for (;;) {
    const count = readSync(fd, room, 0, room.length, null)
    if (count === 0) break
    chunks.push(room.subarray(0, count))
    bytes += count
    if (bytes > maxBytes) return { kind: 'too_large', path, bytes }
    if (count < room.length) break
    room = Buffer.allocUnsafe(64 * 1024)
  }
  return { kind: 'text', text: Buffer.concat(chunks).toString('utf8'), path }
}

function reasonOf(cause: unknown): string {
  return errnoOf(cause) === 'EACCES'
    ? 'permission denied'
    : cause instanceof Error
      ? cause.message
      : String(cause)
}
