import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
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
