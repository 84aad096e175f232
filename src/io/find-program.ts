import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { isFile } from './path-kind.ts'

/** Absolute path of a program on a search path, as a shell would find it; null when it is not there. */
export function findProgram(name: string, searchPath: string): string | null {
  for (const directory of searchPath.split(delimiter)) {
    if (directory === '') continue
    const candidate = join(directory, name)
    if (isFile(candidate) && isExecutable(candidate)) return candidate
  }
  return null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Gantry's own program, as words that start it from any shell: the Node that runs now, and the program that belongs to what it
 * runs. null where it is not beside it, as in a plugin that was copied elsewhere.
 */
export function ownProgram(script: string | undefined = process.argv[1]): readonly string[] | null {
  if (script === undefined) return null
  const found = places.map((place) => join(dirname(script), place)).find(isFile)
  return found === undefined ? null : [process.execPath, found]
}

/** From the sources, the published program, its hook program, the plugin within it, and a bundle in the cache of a checkout. */
const places = ['bin.ts', 'bin.js', '../cli/bin.js', '../../../cli/bin.js', '../../../../src/bin.ts']
