import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { translated } from './fs-error.ts'
import { randomSuffix } from './ids.ts'
import { mayAccess, pathKind } from './path-kind.ts'

/** Throws early what writing the file would throw later, perhaps after an hour of work. */
export function checkWritable(path: string): void {
  const kind = pathKind(path)
  if (kind === 'directory') {
    throw new GantryError('NOT_WRITABLE', `${path} is a directory`, { hint: 'Name a file in it.' })
  }
  // A device or a pipe cannot be tested without using it.
  if (kind === 'other') return
  makeDirectories(dirname(path))
  const probe = kind === 'file' ? path : `${path}.${randomSuffix(6)}.tmp`
  translated(`write ${path}`, () => {
    closeSync(openSync(probe, 'a'))
    if (kind !== 'file') rmSync(probe)
  })
}

/** Whether the directory can be written or created. Changes nothing. */
export function couldWrite(directory: string): boolean {
  const kind = pathKind(directory)
  if (kind === null) return dirname(directory) !== directory && couldWrite(dirname(directory))
  if (kind !== 'directory') return false
  return mayAccess(directory, constants.W_OK)
}
