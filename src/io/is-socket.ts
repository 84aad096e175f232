import { statSync } from 'node:fs'

/** Does a socket lie there? Nobody may listen on it any more. */
export function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true
}
