import { join } from 'node:path'
import { privateDirectory } from '../../../io/private-directory.ts'
import { sha256 } from '../../../io/sha256.ts'

/** Variables that programs the helper starts, git above all, find their way by: who has others needs another helper. */
const steering = /^(?:PATH|HOME|TMPDIR|USER|LOGNAME|LANG|LC_\w+|XDG_\w+|GIT_\w+|NODE_\w+)$/

/** The system's limit for the path of a socket is 104 bytes on some, 108 on others, with its end. */
const maxPathBytes = 100

export interface ResidentPlace {
  readonly guardHome: string
  readonly edition: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the user, as the system knows it; null where it has none. */
  readonly uid: number | null
}

/** null when no place is safe or short enough: then there is no helper. */
export function socketPath({ guardHome, edition, env, uid }: ResidentPlace): string | null {
  if (uid === null) return null
  const steered = Object.entries(env)
    .filter(([name, value]) => steering.test(name) && value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const name = `${sha256(JSON.stringify([guardHome, edition, steered])).slice(0, 20)}.sock`
  const own = join(guardHome, 'run')
  if (fits(join(own, name))) return privateDirectory(own, uid) ? join(own, name) : null
  const short = `/tmp/gantry-guard-${uid}`
  return privateDirectory(short, uid) ? join(short, name) : null
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= maxPathBytes
}
