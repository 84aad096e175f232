import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readJsonIfExists } from './files.ts'
import { orElse } from './fs-error.ts'
import { isFile } from './path-kind.ts'

export interface FoundPackage {
  /** Absolute: where its package.json is. */
  readonly directory: string
  readonly version: string | null
  /** Loads the package's main module and returns its exports. */
  load(): Promise<unknown>
}

/**
 * Finds a package that Gantry does not depend on: from each of these directories upward like Node, then beside Gantry. A directory may
 * be the package itself. null when it is not found.
 */
export function findPackage(name: string, directories: readonly string[]): FoundPackage | null {
  for (const from of [...directories.map((directory) => join(directory, 'package.json')), import.meta.url]) {
    const entry = orElse(null, () => createRequire(from).resolve(name))
    const found = entry === null ? null : packageOf(name, entry)
    if (entry !== null && found !== null) {
      return { ...found, load: () => import(pathToFileURL(entry).href) }
    }
  }
  return null
}

/** The nearest package.json above the entry that has the package's name. */
function packageOf(name: string, entry: string): Pick<FoundPackage, 'directory' | 'version'> | null {
  for (let directory = dirname(entry); directory !== dirname(directory); directory = dirname(directory)) {
    const file = join(directory, 'package.json')
    const manifest = isFile(file) ? readJsonIfExists(file) : undefined
    if (typeof manifest !== 'object' || manifest === null || !('name' in manifest)) continue
    if (manifest.name !== name) continue
    const version = 'version' in manifest && typeof manifest.version === 'string' ? manifest.version : null
    return { directory, version }
  }
  return null
}
