import { closeSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { translateFsError } from './fs-error.ts'
import { randomSuffix } from './ids.ts'
import { pathKind } from './path-kind.ts'

/** Throws now what writing the file would throw later, so that nobody learns of it after an hour of work. */
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
