import { readTextIfExists } from './directory.ts'

/** Some programs refuse to work without a check when they are started by root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** Root of the machine, not merely of a user namespace, in which root is another user outside. */
export function isHostRoot(): boolean {
  return (
    isRoot() && /^\s*0\s+0\s+4294967295\s*$/.test(readTextIfExists('/proc/self/uid_map') ?? '0 0 4294967295')
  )
}
