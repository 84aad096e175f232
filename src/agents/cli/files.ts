import { isAbsolute, relative } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { writeFileAtomic } from '../../io/files.ts'
import type { CliLaunch } from './contract.ts'

/** Writes what the agent must find when it starts; null, or why that could not be done. */
export function writeLaunchFiles(files: NonNullable<CliLaunch['files']>, workspace: string): string | null {
  for (const { path, content } of files) {
    // What the agent is judged by must not hold what we put there.
    if (!isAbsolute(path) || isInside(path, workspace))
      return `its settings file ${path} would lie in the workspace: HOME and TMPDIR must be elsewhere.`
    try {
      writeFileAtomic(path, content)
    } catch (cause) {
      if (cause instanceof GantryError) return `its settings could not be written: ${cause.message}`
      throw cause
    }
  }
  return null
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
