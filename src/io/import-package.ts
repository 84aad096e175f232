import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readJsonIfExists } from './files.ts'
import { isFile } from './path-kind.ts'

export interface FoundPackage {
  /** Absolute: where its package.json is. */
  readonly directory: string
  readonly version: string | null
  /** Runs the package's main module and answers with what it exports. */
  load(): Promise<unknown>
}

/**
 * A package that is not ours to bring: looked for from each of these directories upward as Node does, then beside
 * ourselves. A directory may be that of the package itself. null when it is nowhere.
 */
export function findPackage(name: string, directories: readonly string[]): FoundPackage | null {
  for (const from of [...directories.map((directory) => join(directory, 'package.json')), import.meta.url]) {
    const entry = entryOf(name, from)
    const found = entry === null ? null : packageOf(name, entry)
    if (entry !== null && found !== null) {
      return { ...found, load: () => import(pathToFileURL(entry).href) }
    }
  }
  return null
}

function entryOf(name: string, from: string): string | null {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return null
  }
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
