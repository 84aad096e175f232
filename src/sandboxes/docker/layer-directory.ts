import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { makeDirectories, namesIn } from '../../io/directory.ts'
import { ownUser } from '../../io/file-owner.ts'
import { removeTree } from '../../io/files.ts'
import { homeDirectory, temporaryRoot } from '../../io/host.ts'
import { unmount } from '../../io/id-mapped-mount.ts'
import { acquireLock, lockHolder } from '../../io/lock.ts'
import { entryKind } from '../../io/path-kind.ts'
import { privateDirectory } from '../../io/private-store.ts'
import { removeIfEmpty } from '../../io/remove-if-empty.ts'

/** Where one sandbox has the layers of its workspace. Held by this process until it is removed, or until this process dies. */
export interface LayerDirectory {
  readonly path: string
  /** null when it is gone, else what is in the way. */
  remove(): Promise<string | null>
}

type Env = Readonly<Record<string, string>>

/** `name`: of the container, which is unique. */
export function makeLayerDirectory(name: string, env: Env): LayerDirectory {
  const root = roots(env).find(isUsable)
  if (root === undefined)
    throw new GantryError(
      'NOT_WRITABLE',
      `none of ${roots(env).join(', ')} can hold the layers of a workspace`,
      {
        hint: 'Let XDG_CACHE_HOME name a directory that this user alone can write, without a comma or a colon in its path.',
      },
    )
  // The lock comes first and goes last: a directory without one was left behind.
  const lock = acquireLock(join(root, `${name}${lockEnding}`), { label: name })
  const path = join(root, name)
  makeDirectories(path)
  return {
    path,
    remove: async () => {
      const why = await removeLayers(path)
      if (why === null) lock?.release()
      return why
    },
  }
}

/** Removes what dead processes left; tells what, one line each. */
export async function sweepLayerDirectories(env: Env): Promise<readonly string[]> {
  const removed: string[] = []
  for (const root of roots(env)) {
    const names = new Set(namesIn(root).map((name) => name.replace(/\.lock$/, '')))
    for (const name of names) {
      const lock = join(root, `${name}${lockEnding}`)
      if (!name.startsWith('gantry-') || name.includes('.') || lockHolder(lock) !== null) continue
      const why = await removeLayers(join(root, name))
      if (why === null) removeTree(lock)
      removed.push(
        why === null ? `removed the sandbox ${name}` : `the layers of ${name} could not be removed: ${why}`,
      )
    }
  }
  return removed
}

async function removeLayers(path: string): Promise<string | null> {
  const lower = join(path, 'lower')
  const why = await unmount(lower)
  if (why !== null) return why
  try {
    // What is mounted there is the repository itself: as long as it may be, nothing is removed.
    if (entryKind(lower) === 'directory' && !removeIfEmpty(lower))
      return `something is still mounted at ${lower}`
    // The kernel makes this one for root alone; empty, it can be removed by whoever owns the directory around it.
    removeIfEmpty(join(path, 'work', 'work'))
    removeTree(path)
    return null
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

const lockEnding = '.lock'

/** On a disk rather than in memory where possible: a build may write much. */
function roots(env: Env): readonly string[] {
  const { XDG_CACHE_HOME: cache = '' } = env
  const parent = cache === '' ? join(homeDirectory(env), '.cache') : cache
  const { uid } = ownUser()
  return [
    join(parent, 'gantry', 'layers'),
    join(temporaryRoot(env), `gantry-layers-${uid}`),
    `/var/tmp/gantry-layers-${uid}`,
  ]
}

/** Paths go into the options of a mount, in which these signs mean something. */
function isUsable(path: string): boolean {
  if (/[,:\\"\s]/.test(path)) return false
  try {
    return privateDirectory(path, ownUser().uid)
  } catch {
    return false
  }
}
