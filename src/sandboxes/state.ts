import { basename, dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { removeCgroup } from '../io/cgroup.ts'
import { makeDirectories, namesIn, readTextIfExists } from '../io/directory.ts'
import { ownUser } from '../io/file-owner.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { homeDirectory, temporaryRoot } from '../io/host.ts'
import { randomSuffix } from '../io/ids.ts'
import { acquireLock, lockHolder } from '../io/lock.ts'
import { privateDirectory } from '../io/private-store.ts'
import { endMarkedProcesses } from '../io/process-table.ts'
import { sha256 } from '../io/sha256.ts'
import type { SandboxName } from './contract.ts'

/** What one sandbox keeps on the disk while it is open, such as the layer its steps write to. */
export interface SandboxState {
  /** In the names of everything that belongs to this sandbox, and in the environment of its processes. */
  readonly label: string
  readonly directory: string
  /** For what stays the same until the machine is started again, and for all sandboxes of this user. Made when it is needed. */
  readonly shared: string
  /** Written down before they are made. */
  noteCgroups(directories: readonly string[]): void
  notedCgroups(): readonly string[]
  /** Removes the directory; null when it is gone, else what is in the way. */
  remove(): string | null
}

/** Held by this process until it is removed, or until this process dies. */
export function makeState(
  engine: SandboxName,
  runId: string,
  env: Readonly<Record<string, string>>,
): SandboxState {
  const root = roots(engine, env).find((path) => isOurs(path))
  if (root === undefined)
    throw new GantryError(
      'NOT_WRITABLE',
      `none of ${roots(engine, env).join(', ')} is a directory of this user alone`,
      {
        hint: 'Let XDG_CACHE_HOME or TMPDIR name a directory that this user can write.',
      },
    )
  const label = `gantry-${runId.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64)}-${randomSuffix(8)}`
  // The lock comes first and goes last: a directory without one was left behind.
  const lock = acquireLock(join(root, `${label}${lockEnding}`), { label })
  const directory = join(root, label)
  makeDirectories(directory)
  let noted: readonly string[] = []
  return {
    label,
    directory,
    shared: join(root, `${sharedBeginning}${bootId()}`),
    noteCgroups: (directories) => {
      writeFileAtomic(join(directory, cgroupsFile), directories.join('\n'))
      noted = directories
    },
    notedCgroups: () => noted,
    remove: () => {
      const why = removed(directory)
      if (why === null) lock?.release()
      return why
    },
  }
}

/** What a process left here that is gone. */
export interface AbandonedState {
  readonly label: string
  readonly cgroups: readonly string[]
  remove(): string | null
}

export function abandonedStates(
  engine: SandboxName,
  env: Readonly<Record<string, string>>,
): readonly AbandonedState[] {
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
        remove: () => removed(join(root, label)) ?? removed(join(root, `${label}${lockEnding}`)),
      }))
  })
}

/** Removes what was shared before the machine was started the last time. */
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
    join(temporaryRoot(env), `gantry-${engine}-${ownUser().uid}`),
  ]
}

/** Whatever is wrong with one place, another is tried. */
function isOurs(path: string): boolean {
  try {
    return privateDirectory(path, ownUser().uid)
  } catch {
    return false
  }
}

function removed(path: string): string | null {
  try {
    removeTree(path)
    return null
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

/** Whether a message of an engine or of the system says that memory, disk, processes or files ran out. */
export function isExhaustion(message: string): boolean {
  return /no space left|disk quota|cannot allocate memory|out of memory|resource temporarily unavailable|too many open files|pids? limit/i.test(
    message,
  )
}

/** In the environment of every process that is started for a sandbox, with the sandbox's label. */
export const labelVariable = 'GANTRY_SANDBOX'

/** Removes the sandboxes of processes that are gone, by the label that each carries; one line for each. */
export async function sweepStates(
  engine: SandboxName,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const told: string[] = []
  for (const { label, cgroups, remove } of abandonedStates(engine, env)) {
    const ended = endMarkedProcesses(`${labelVariable}=${label}`)
    const stuck = [...(await Promise.all(cgroups.map(removeCgroup))), remove()].filter((why) => why !== null)
    told.push(
      stuck.length === 0
        ? `removed the sandbox ${label}${ended > 0 ? ` and ended ${ended} processes of it` : ''}`
        : `could not remove the sandbox ${label}: ${stuck.join('; ')}`,
    )
  }
  return told
}
