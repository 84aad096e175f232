import { accessSync, closeSync, constants, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { translateFsError } from './fs-error.ts'
import { randomSuffix } from './ids.ts'
import { pathKind } from './path-kind.ts'

/** Throws now what writing the file would throw later, so that it does not fail after an hour of work. */
export function checkWritable(path: string): void {
  const kind = pathKind(path)
  if (kind === 'directory') {
    throw new GantryError('NOT_WRITABLE', `${path} is a directory`, { hint: 'Name a file in it.' })
  }
  // A device or a pipe cannot be tried without being used.
  if (kind === 'other') return
  makeDirectories(dirname(path))
  const probe = kind === 'file' ? path : `${path}.${randomSuffix(6)}.tmp`
  try {
    closeSync(openSync(probe, 'a'))
    if (kind !== 'file') rmSync(probe)
  } catch (cause) {
    throw translateFsError(cause, `write ${path}`)
  }
}

/** Whether the directory can be written, or made. Looks only: nothing is changed. */
export function couldWrite(directory: string): boolean {
  const kind = pathKind(directory)
  if (kind === null) return dirname(directory) !== directory && couldWrite(dirname(directory))
  if (kind !== 'directory') return false
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
