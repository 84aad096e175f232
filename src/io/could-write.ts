import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { pathKind } from './path-kind.ts'

/** Whether the directory can be written, or made. Looks only: nothing is changed. */
export function couldWrite(directory: string): boolean {
  const kind = pathKind(directory)
  if (kind === null) return dirname(directory) !== directory && couldWrite(dirname(directory))
  if (kind !== 'directory') return false
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
