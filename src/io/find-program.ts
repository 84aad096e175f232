import { constants } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { isFile, mayAccess } from './path-kind.ts'

/** Absolute path of a program on a search path, as a shell finds it; null when it is missing. */
export function findProgram(name: string, searchPath: string): string | null {
  for (const directory of searchPath.split(delimiter)) {
    if (directory === '') continue
    const candidate = join(directory, name)
    if (isFile(candidate) && isExecutable(candidate)) return candidate
  }
  return null
}

export function isExecutable(path: string): boolean {
  return mayAccess(path, constants.X_OK)
}

/**
 * The command that starts Gantry from any shell: the current Node and the program that belongs to the running script. null when it is
 * not beside it, as in a plugin copied elsewhere.
 */
export function ownProgram(script: string | undefined = process.argv[1]): readonly string[] | null {
  if (script === undefined) return null
  const found = places.map((place) => join(dirname(script), place)).find(isFile)
  return found === undefined ? null : [process.execPath, found]
}

/** From the sources, the published program, its hook program, the plugin within it, and a bundle in the cache of a checkout. */
const places = ['bin.ts', 'bin.js', '../cli/bin.js', '../../../cli/bin.js', '../../../../src/bin.ts']
