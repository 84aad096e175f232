import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** When anything below a directory was last changed, in ms since the epoch; directories count, so that a removal does. */
export function newestChange(directory: string): number {
  let newest = statSync(directory).mtimeMs
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    newest = Math.max(newest, entry.isDirectory() ? newestChange(path) : statSync(path).mtimeMs)
  }
  return newest
}

export function lastChange(file: string): number {
  return statSync(file).mtimeMs
}
