import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { errnoOf, translateFsError } from './fs-error.ts'

/** A new directory that is removed when the scope ends: `using scratch = temporaryDirectory('gantry-')`. */
export function temporaryDirectory(
  prefix: string,
  parent: string = tmpdir(),
): Disposable & { readonly path: string } {
  const path = make(prefix, parent)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

function make(prefix: string, parent: string): string {
  try {
    return mkdtempSync(join(parent, prefix))
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw translateFsError(cause, `make a directory in ${parent}`)
    throw new GantryError('NOT_WRITABLE', `the directory for temporary files, ${parent}, is not there`, {
      hint: 'Create it, or set TMPDIR to an existing directory.',
      cause,
    })
  }
}

export interface PrivateFile {
  readonly path: string
  /** Removes the file and the directory made for it. */
  remove(): void
}

/** A file in a new directory that only this user can enter. Creates `parent` if needed. */
export function writePrivateFile(parent: string = tmpdir(), name: string, content: string): PrivateFile {
  mkdirSync(parent, { recursive: true })
  const directory = mkdtempSync(join(parent, 'gantry-'))
  const path = join(directory, name)
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
  return { path, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
