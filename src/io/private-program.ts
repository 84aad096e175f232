import { chmodSync } from 'node:fs'
import { readTextIfExists } from './directory.ts'
import { isExecutable } from './find-program.ts'
import { translateFsError } from './fs-error.ts'
import { writePrivateAtomic } from './private-store.ts'

/** Is exactly this program there, and may it be started? */
export function hasProgram(path: string, text: string): boolean {
  return readTextIfExists(path) === text && isExecutable(path)
}

/** Writes a script that this user alone may read, write and start. False when it cannot be started from there. */
export function writePrivateProgram(path: string, text: string): boolean {
  writePrivateAtomic(path, text)
  makeExecutable(path, 0o700)
  return isExecutable(path)
}

export function makeExecutable(path: string, mode: 0o700 | 0o755): void {
  try {
    chmodSync(path, mode)
  } catch (cause) {
    throw translateFsError(cause, `make ${path} executable`)
  }
}
