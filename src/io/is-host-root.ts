import { readTextIfExists } from './directory.ts'
import { isRoot } from './is-root.ts'

/** Root of the machine, not merely of a user namespace, in which root is somebody else outside. */
export function isHostRoot(): boolean {
  return (
    isRoot() && /^\s*0\s+0\s+4294967295\s*$/.test(readTextIfExists('/proc/self/uid_map') ?? '0 0 4294967295')
  )
}
