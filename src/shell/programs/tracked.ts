import { posix } from 'node:path'
import type { World } from '../world.ts'
import { gitBlobId } from './git-blob-id.ts'

/** What the index of a repository says of its files. */
export interface Tracked {
  /** The top of the working tree. */
  readonly top: string
  /** Is it in the index? By its absolute path. */
  has(path: string): boolean
  /** Is it in the index with other content than it has on the disk? Not of content that is no text. */
  isChanged(path: string): boolean
}

/** null outside of a repository. */
export function trackedIn(world: World, cwd: string | null): Tracked | null {
  const top = cwd === null ? null : repositoryOf(cwd, world)
  if (top === null) return null
  const index = world.readText(`${top}/.git/index`, maxIndex) ?? ''
  const nameOf = (path: string): string => (path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path)
  const has = (path: string): boolean => index.includes(`${nameOf(path)}\0`)
  return {
    top,
    has,
    isChanged: (path) => has(path) && !isInIndex(nameOf(path), world.readText(path, maxFile)),
  }

  /**
   * The index holds the id of the content right before the name. It was read as text, so that bytes which are none are lost; but
   * a character begins within any four bytes, and from there on the same bytes give the same text.
   */
  function isInIndex(name: string, content: string | null): boolean {
    if (content === null || content.includes('\ufffd')) return content !== null
    const id = gitBlobId(Buffer.from(content))
    const length = Math.min(Buffer.byteLength(name), 0xfff)
    const entry = Buffer.concat([id, Buffer.from([length >> 8, length & 0xff]), Buffer.from(`${name}\0`)])
    return [0, 1, 2, 3].some((from) => index.includes(entry.subarray(from).toString('utf8')))
  }
}

const maxIndex = 8_388_608
const maxFile = 1_048_576

export function repositoryOf(cwd: string, world: World): string | null {
  for (let at = cwd; ; at = posix.dirname(at)) {
    if (world.list(`${at === '/' ? '' : at}/.git`) !== null) return at
    if (at === '/' || !at.startsWith('/')) return null
  }
}
