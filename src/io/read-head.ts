import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { allowing, errnoOf, orElse, translated } from './fs-error.ts'
import { isEndless, isFile } from './path-kind.ts'

export type Head =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** Also a hard link, because a write would change the other names too. */
  | { readonly kind: 'link' }
  /** A directory, a pipe, a device, or a file without read permission. */
  | { readonly kind: 'other' }

/** The beginning of a file. Follows no link and never blocks, as reading a pipe would. */
export function readHead(path: string, maxBytes: number): Head {
  let fd: number
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return { kind: 'missing' }
    if (stats.isSymbolicLink() || (stats.isFile() && stats.nlink > 1)) return { kind: 'link' }
    if (!stats.isFile()) return { kind: 'other' }
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (cause) {
    return { kind: ['ENOENT', 'ENOTDIR'].includes(errnoOf(cause) ?? '') ? 'missing' : 'other' }
  }
  try {
    const now = fstatSync(fd)
    if (!now.isFile()) return { kind: 'other' }
    const bytes = Buffer.allocUnsafe(Math.min(now.size, maxBytes))
    return { kind: 'text', text: bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0)) }
  } finally {
    closeSync(fd)
  }
}

/** The first bytes of a regular file; none when it cannot be read. */
export function firstBytes(path: string, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (!isFile(path)) return bytes.subarray(0, 0)
  return orElse(bytes.subarray(0, 0), () => {
    const fd = openSync(path, 'r')
    try {
      return bytes.subarray(0, readSync(fd, bytes, 0, length, 0))
    } finally {
      closeSync(fd)
    }
  })
}

/** The text of a file; for a long one its beginning and end with a note between them. '' when it is missing. */
export function readHeadAndTail(path: string, maxBytes: number): string {
  if (isEndless(path)) return ''
  const fd = translated(`read ${path}`, () => allowing(['ENOENT'], () => openSync(path, 'r')))
  if (fd === undefined) return ''
  try {
    const { size } = fstatSync(fd)
    if (size <= maxBytes) return readAt(fd, 0, size)
    const half = Math.floor(maxBytes / 2)
    return `${readAt(fd, 0, half)}\n[${size - 2 * half} bytes left out]\n${readAt(fd, size - half, half)}`
  } finally {
    closeSync(fd)
  }
}

function readAt(fd: number, position: number, length: number): string {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position)).toString('utf8')
}
