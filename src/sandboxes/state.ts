import { basename, dirname, join } from 'node:path'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { removeCgroup } from '../io/cgroup.ts'
import { makeDirectories, namesIn, readTextIfExists } from '../io/directory.ts'
import { ownUser } from '../io/file-owner.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { freeSpace, homeDirectory, temporaryRoot } from '../io/host.ts'
import { unmount } from '../io/id-mapped-mount.ts'
import { randomSuffix } from '../io/ids.ts'
import { acquireLock, lockHolder } from '../io/lock.ts'
import { entryKind } from '../io/path-kind.ts'
import { privateDirectory } from '../io/private-files.ts'
import { endMarkedProcesses } from '../io/process-table.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import { sha256 } from '../io/sha256.ts'
import type { SandboxFailure, SandboxName } from './contract.ts'

/** The files of one open sandbox, such as the layer that its steps write to. */
export type SandboxState = ReturnType<typeof makeState>

/** Locked by this process until it is removed, or until this process dies. `label`: of `sandboxLabel`. */
export function makeState(engine: SandboxName, label: string, env: Readonly<Record<string, string>>) {
  const root = roots(engine, env).find((path) => isOurs(path))
  if (root === undefined)
    throw new GantryError(
      'NOT_WRITABLE',
      `none of ${roots(engine, env).join(', ')} belongs only to this user`,
      {
        hint: 'Set XDG_CACHE_HOME to a directory that only this user can write, without a comma or a colon in its path.',
      },
    )
  // The lock is created first and removed last: a directory without one is a leftover.
  const lock = acquireLock(join(root, `${label}${lockEnding}`), { label })
  const directory = join(root, label)
  makeDirectories(directory)
  let noted: readonly string[] = []
  return {
    /** Part of the names of everything that belongs to this sandbox, and of the environment of its processes. */
    label,
    directory,
    /** For files that stay the same until the next boot, shared by all sandboxes of this user. Created when needed. */
    shared: join(root, `${sharedBeginning}${bootId()}`),
    /** Recorded before they are created. */
    noteCgroups: (directories: readonly string[]): void => {
      writeFileAtomic(join(directory, cgroupsFile), directories.join('\n'))
      noted = directories
    },
    notedCgroups: (): readonly string[] => noted,
    /** Removes the directory; null when it is gone, else the reason why not. */
    remove: async (): Promise<string | null> => {
      const why = await removed(directory)
      if (why === null) lock?.release()
      return why
    },
  }
}

/** Unique, and a valid name for a file and a container. */
export function sandboxLabel(runId: string): string {
  return `gantry-${runId.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64)}-${randomSuffix(8)}`
}

/** Leftovers of processes that are gone. */
function abandonedStates(engine: SandboxName, env: Readonly<Record<string, string>>) {
  return roots(engine, env).flatMap((root) => {
    const names = namesIn(root)
    const labels = new Set(
      names.map((name) => name.replace(/\.lock$/, '')).filter((name) => labelForm.test(name)),
    )
    return [...labels]
      .filter((label) => lockHolder(join(root, `${label}${lockEnding}`)) === null)
      .map((label) => ({
        label,
        cgroups: (readTextIfExists(join(root, label, cgroupsFile)) ?? '')
          .split('\n')
          .filter((path) => path !== ''),
        remove: async () => {
          const why = await removed(join(root, label))
          if (why === null) removeTree(join(root, `${label}${lockEnding}`))
          return why
        },
      }))
  })
}

/** Removes shared files from before the last boot. */
export function discardStale(shared: string): void {
  const [root, own] = [dirname(shared), basename(shared)]
  for (const name of namesIn(root))
    if (name.startsWith(sharedBeginning) && name !== own) removeTree(join(root, name))
}

const sharedBeginning = 'boot-'

function bootId(): string {
  return sha256(readTextIfExists('/proc/sys/kernel/random/boot_id') ?? '').slice(0, 16)
}

const lockEnding = '.lock'
const labelForm = /^gantry-[A-Za-z0-9_-]+$/
const cgroupsFile = 'cgroups'

/** On a disk rather than in memory where possible: a build may write much. */
function roots(engine: SandboxName, env: Readonly<Record<string, string>>): readonly string[] {
  const { XDG_CACHE_HOME: cache = '' } = env
  const parent = cache === '' ? join(homeDirectory(env), '.cache') : cache
  return [
    join(parent, 'gantry', 'sandboxes', engine),
    ...[temporaryRoot(env), '/var/tmp'].map((place) => join(place, `gantry-${engine}-${ownUser().uid}`)),
  ]
}

/** Tries the next directory when one cannot be used. Paths become mount options, in which some characters have a meaning. */
function isOurs(path: string): boolean {
  try {
    return !/[,:\\"\s]/.test(path) && privateDirectory(path, ownUser().uid)
  } catch {
    return false
  }
}

/** Also the layers of a workspace in it. */
async function removed(path: string): Promise<string | null> {
  try {
    // Those of `layPlace`: steps write only to directories below them.
    for (const name of namesIn(path).filter((one) => /^\d+$/.test(one))) {
      const lower = join(path, name, 'lower')
      // The repository itself may be mounted there: while it is, nothing is removed.
      if (entryKind(lower) === 'directory') {
        const why = await unmount(lower)
        if (why !== null || !removeIfEmpty(lower)) return why ?? `something is still mounted at ${lower}`
      }
      // The kernel creates this directory for root alone; while empty, the owner of its parent can remove it.
      removeIfEmpty(join(path, name, 'work', 'work'))
    }
    removeTree(path)
    return null
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

/** Whether an error message means that memory, disk, processes or files ran out. */
export function isExhaustion(message: string): boolean {
  return /no space left|disk quota|cannot allocate memory|out of memory|resource temporarily unavailable|too many open files|pids? limit/i.test(
    message,
  )
}

/** A GantryError that kept a sandbox from being opened, as an infrastructure failure; anything else is rethrown. */
export function openingFailure(cause: unknown): SandboxFailure {
  if (!(cause instanceof GantryError)) throw cause
  const isFull = cause.code === 'NO_SPACE' || isExhaustion(cause.message)
  const message = [cause.message, cause.hint].filter(Boolean).join('. ')
  return { type: isFull ? 'resource_exhaustion' : 'container_creation', message }
}

const fewBytes = 64 * 1024

/** Whether the disk with this path has no space, or no room for another file. */
export function isDiskFull(path: string): boolean {
  const free = freeSpace(path)
  return free !== null && (free.bytes < fewBytes || free.files < 1)
}

/** In the environment of every process of a sandbox, with the sandbox's label. */
export const labelVariable = 'GANTRY_SANDBOX'

/** Removes the sandboxes of dead processes, found by their label, and returns one line for each. */
export async function sweepStates(
  engine: SandboxName,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const notes: string[] = []
  for (const { label, cgroups, remove } of abandonedStates(engine, env)) {
    const ended = endMarkedProcesses(`${labelVariable}=${label}`)
    const stuck = [...(await Promise.all(cgroups.map(removeCgroup))), await remove()].filter(
      (why) => why !== null,
    )
    notes.push(
      stuck.length === 0
        ? `removed the sandbox ${label}${ended > 0 ? ` and ended ${counted(ended, 'process', 'processes')} of it` : ''}`
        : `could not remove the sandbox ${label}: ${stuck.join('; ')}`,
    )
  }
  return notes
}
