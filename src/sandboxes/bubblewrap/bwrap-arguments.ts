import type { SandboxNetwork } from '../contract.ts'
import { hostname } from '../places.ts'
import type { PlannedMount } from './plan-mounts.ts'

export interface BwrapRequest {
  readonly program: string
  /** The tree that becomes the root directory; null when the root consists of mounts. */
  readonly rootTree: string | null
  readonly links: readonly { readonly path: string; readonly target: string }[]
  readonly mounts: readonly PlannedMount[]
  readonly network: SandboxNetwork
  readonly tmpBytes: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Whether it also has the variables of the caller. */
  readonly inheritsEnv: boolean
  /** File descriptors of the seccomp filter and of bwrap's status output. */
  readonly seccompFd: number
  readonly statusFd: number
  readonly command: readonly string[]
}

/** The user inside, whatever the user outside. */
export const stepUser = 1000

/** Every namespace is separate, without capabilities and without ways to gain them. The order of mounts matters. */
export function bwrapArguments(request: BwrapRequest): readonly string[] {
  // A directory before those inside it.
  const mounts = request.mounts.toSorted((one, other) => (one.target < other.target ? -1 : 1))
  const below = mounts.filter(({ target }) => !isScratch(target))
  const scratch = mounts.filter(({ target }) => isScratch(target))
  return [
    request.program,
    '--unshare-all',
    '--unshare-user',
    ...(request.network === 'host' ? ['--share-net'] : []),
    ...['--uid', String(stepUser), '--gid', String(stepUser)],
    ...['--cap-drop', 'ALL'],
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    ...['--hostname', hostname],
    ...['--seccomp', String(request.seccompFd), '--json-status-fd', String(request.statusFd)],
    ...(request.rootTree === null ? [] : ['--ro-bind', request.rootTree, '/']),
    ...request.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...below.flatMap(bound),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(request.tmpBytes), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...scratch.flatMap(bound),
    // A new root directory is memory that a step could fill.
    ...(request.rootTree === null ? ['--remount-ro', '/'] : []),
    // Through /proc a process could write to the memory of another one, such as the shell of its step.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev'],
    ...['--chdir', request.cwd, ...(request.inheritsEnv ? [] : ['--clearenv'])],
    ...Object.entries(request.env).flatMap(([name, value]) => ['--setenv', name, value]),
    '--',
    ...request.command,
  ]
}

function bound({ writable, source, target }: PlannedMount): readonly string[] {
  return [writable ? '--bind' : '--ro-bind', source, target]
}

function isScratch(target: string): boolean {
  return /^\/(?:tmp|dev|artifacts)\//.test(target)
}
