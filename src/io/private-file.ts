import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PrivateFile {
  readonly path: string
  /** Removes the file and the directory made for it. */
  remove(): void
}

/** A file in a new directory of its own that only this user can enter. `parent` is made when it is missing. */
export function writePrivateFile(parent: string = tmpdir(), name: string, content: string): PrivateFile {
  mkdirSync(parent, { recursive: true })
  const directory = mkdtempSync(join(parent, 'gantry-'))
  const path = join(directory, name)
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
  return { path, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
