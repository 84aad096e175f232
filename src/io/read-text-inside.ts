import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
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
 * Reads a text file that an agent may have created: never through a link that leads out of `root`, never blocking on a FIFO or a
 * device, never more than `maxBytes`. Bytes that are not UTF-8 become U+FFFD.
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

/** The same; null when there is no such text, whatever the reason. */
export function textInside(root: string, relative: string, maxBytes = defaultMaxBytes): string | null {
  const file = readTextInside(root, relative, { maxBytes })
  return file.kind === 'text' ? file.text : null
}

/** The text of a large regular file, piece by piece. A character is never split between two pieces. */
export function* readPieces(path: string, pieceBytes: number): Generator<string> {
  const decoder = new StringDecoder('utf8')
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const room = Buffer.allocUnsafe(pieceBytes)
    for (let count = readSync(fd, room); count > 0; count = readSync(fd, room))
      yield decoder.write(room.subarray(0, count))
    const rest = decoder.end()
    if (rest !== '') yield rest
  } finally {
    closeSync(fd)
  }
}

function unopened(path: string, cause: unknown): InsideText {
  switch (errnoOf(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { kind: 'missing', path }
    // The error for a socket or a device without a driver.
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
  // A file may grow, and files in /proc report a size of 0, so the limit applies to the bytes read.
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
