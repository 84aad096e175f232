import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { errnoOf, translateFsError } from './fs-error.ts'

/** A directory of its own that is gone when the scope ends: `using scratch = temporaryDirectory('gantry-')`. */
export function temporaryDirectory(prefix: string): Disposable & { readonly path: string } {
  const path = make(prefix)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

function make(prefix: string): string {
  const parent = tmpdir()
  try {
    return mkdtempSync(join(parent, prefix))
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw translateFsError(cause, `make a directory in ${parent}`)
    throw new GantryError('NOT_WRITABLE', `the directory for temporary files, ${parent}, is not there`, {
      hint: 'Make it, or let TMPDIR name one that exists.',
      cause,
    })
  }
}
