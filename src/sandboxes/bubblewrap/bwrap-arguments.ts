import type { PlannedMount } from './mount-plan.ts'

export interface BwrapRequest {
  readonly program: string
  /** The tree that is the root directory; null when it is put together from mounts. */
  readonly rootTree: string | null
  readonly links: readonly { readonly path: string; readonly target: string }[]
  readonly mounts: readonly PlannedMount[]
  readonly network: 'none' | 'allow'
  readonly tmpBytes: number
  readonly env: Readonly<Record<string, string>>
  /** Number of the open file that holds the filter of system calls, and of the one that bwrap tells its status to. */
  readonly seccompFd: number
  readonly statusFd: number
  readonly command: readonly string[]
}

/** Inside, whoever it is outside. */
export const stepUser = 1000

/** Every namespace of its own, no capability, no way to get either; the order of mounts matters. */
export function bwrapArguments(request: BwrapRequest): readonly string[] {
  const { mounts } = request
  const below = mounts.filter(({ target }) => !isWorkplace(target) && !isScratch(target))
  const workplaces = mounts.filter(({ target }) => isWorkplace(target))
  const scratch = mounts.filter(({ target }) => isScratch(target))
  return [
    request.program,
    '--unshare-all',
    '--unshare-user',
    ...(request.network === 'allow' ? ['--share-net'] : []),
    ...['--uid', String(stepUser), '--gid', String(stepUser)],
    ...['--cap-drop', 'ALL'],
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    ...['--hostname', 'sandbox'],
    ...['--seccomp', String(request.seccompFd), '--json-status-fd', String(request.statusFd)],
    ...(request.rootTree === null ? [] : ['--ro-bind', request.rootTree, '/']),
    ...request.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...below.flatMap(bound),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(request.tmpBytes), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['--size', String(request.tmpBytes), '--perms', '1777', '--tmpfs', '/tmp'],
    ...scratch.flatMap(bound),
    ...workplaces.flatMap(bound),
    // A new root directory is memory that a step could fill.
    ...(request.rootTree === null ? ['--remount-ro', '/'] : []),
    ...['--remount-ro', '/dev'],
    ...['--chdir', '/workspace', '--clearenv'],
    ...Object.entries(request.env).flatMap(([name, value]) => ['--setenv', name, value]),
    '--',
    ...request.command,
  ]
}

function bound({ writable, source, target }: PlannedMount): readonly string[] {
  return [writable ? '--bind' : '--ro-bind', source, target]
}

function isWorkplace(target: string): boolean {
  return /^\/(?:workspace|artifacts)(?:\/|$)/.test(target)
}

function isScratch(target: string): boolean {
  return /^\/(?:tmp|dev)\//.test(target)
}
