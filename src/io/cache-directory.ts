import { homedir } from 'node:os'
import { join } from 'node:path'

/** Gantry's own directory for what can be made anew, outside every run. */
export function cacheDirectory(): string {
  const { XDG_CACHE_HOME } = process.env
  const parent =
    XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
  return join(parent, 'gantry')
}
