import { statSync } from 'node:fs'

/** Tells two states of a file apart without reading it: programs of agents have hundreds of megabytes. Empty when it is not there. */
export function fileIdentity(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.size}-${found.mtimeMs}`
}
