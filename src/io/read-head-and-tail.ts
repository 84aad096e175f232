import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'

/** The text of a file; of a long one its beginning and end, with a line between them that tells so. '' when it is not there. */
export function readHeadAndTail(path: string, maxBytes: number): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return ''
    throw translateFsError(cause, `read ${path}`)
  }
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
