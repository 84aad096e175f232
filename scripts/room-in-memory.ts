import { readFileSync, statfsSync } from 'node:fs'

const place = '/dev/shm'
/** Far more than the tests and their Docker Engine use at once. */
const enoughBytes = 4 * 1024 ** 3

/** A directory in memory where the tests can keep files and start programs; null on a machine without enough room. */
export function roomInMemory(): string | null {
  try {
    const { bavail, bsize } = statfsSync(place)
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const [, , type, options = ''] =
      mounts.map((line) => line.split(' ')).find(([, at]) => at === place) ?? []
    const isUsable = type === 'tmpfs' && !/\b(?:noexec|ro)\b/.test(options)
    return isUsable && bavail * bsize >= enoughBytes ? place : null
  } catch {
    return null
  }
}
