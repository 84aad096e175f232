import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { errnoOf } from './fs-error.ts'

const alphabet = 'abcdefghijklmnopqrstuvwxyz012345'

/** Random bytes from the system's device if there is one, because loading node:crypto is too slow for a hook. */
export function quickRandom(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let fd: number
  try {
    fd = openSync('/dev/urandom', 'r')
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause
    return randomBytes(length)
  }
  try {
    for (let at = 0; at < length; ) at += readSync(fd, bytes, at, length - at, null)
    return bytes
  } finally {
    closeSync(fd)
  }
}

/** Letters and digits, five bits each. */
export function quickId(length: number): string {
  return Array.from(quickRandom(length), (byte) => alphabet[byte & 31]).join('')
}
