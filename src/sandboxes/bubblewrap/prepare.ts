import { join } from 'node:path'
import { type Cgroup, makeCgroup } from '../../io/cgroup.ts'
import { makeDirectory } from '../../io/directory.ts'
import { fileOwner, giveFile, ownUser } from '../../io/file-owner.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { findProgram } from '../../io/find-program.ts'
import { describeHost } from '../../io/host.ts'
import { isHostRoot } from '../../io/is-root.ts'
import { isDirectory, isFile } from '../../io/path-kind.ts'
import { sha256 } from '../../io/sha256.ts'
import type { SandboxRequest, SandboxStep } from '../contract.ts'
import type { SandboxState } from '../state.ts'
import { bwrapArguments } from './bwrap-arguments.ts'
import { etcMounts } from './etc-files.ts'
import { hostPrograms } from './host-programs.ts'
import { type LaunchAct, launcherArgv } from './launcher.ts'
import { type LimitPlan, ownProcesses, planLimits } from './limits.ts'
import { hostUser, planAsPlainUser, planAsRoot, type WantedMount, type WorkspaceLayer } from './mount-plan.ts'
import { seccompFilter } from './seccomp/filter.ts'

/** Everything that is the same for all steps of a run. */
export interface Prepared extends LimitPlan {
  readonly request: SandboxRequest
  readonly state: SandboxState
  readonly cgroup: Cgroup | null
  /** Directories of the host that steps write to, directly or through a layer. */
  readonly writable: readonly string[]
  /** What stands in for an image, in words. */
  readonly image: string
  readonly closed: AbortSignal
  /**
   * `isTrial`: prints the engine's version first, and joins a cgroup only where that may be refused, since it takes a while.
   * null on an unknown processor.
   */
  argvFor(
    step: Pick<SandboxStep, 'command' | 'env'>,
    statusFile: string,
    isTrial?: boolean,
  ): readonly [string, ...string[]] | null
}

export interface Programs {
  readonly bwrap: string
  readonly perl: string
}

/** `withoutCgroup`: why none is to be tried. */
export function prepare(
  request: SandboxRequest,
  programs: Programs,
  state: SandboxState,
  layer: { readonly kind: WorkspaceLayer; readonly source: string },
  closed: AbortSignal,
  withoutCgroup: string | null,
): Prepared {
  const { arch, cpus } = describeHost()
  const filter = seccompFilter(arch) ?? new Uint8Array()
  const filterFile = join(state.shared, `seccomp-${sha256(filter).slice(0, 16)}`)
  if (!isFile(filterFile)) writeFileAtomic(filterFile, filter)
  const { limits } = request
  const cgroup =
    withoutCgroup === null
      ? makeCgroup(state.label, { ...limits, pids: limits.pids + ownProcesses }, state.noteCgroups)
      : null
  const limitPlan = planLimits(
    limits,
    cgroup?.missing ?? { memory: withoutCgroup, cpu: withoutCgroup, pids: withoutCgroup },
    {
      cpus,
      prlimit: findProgram('prlimit', '/usr/bin:/bin'),
    },
  )
  const rootTree = request.image.startsWith('/') ? request.image : null
  const host = rootTree === null ? hostPrograms(request.env, request.repository) : null
  const wanted: WantedMount[] = [
    ...(host?.trees ?? []).map((tree) => ({
      ...{ writable: false, source: tree, target: tree, owner: null },
      isPublic: isSystemTree(tree),
    })),
    ...(host === null ? [] : etcMounts(state.shared, request.network)),
    ...(rootTree === null ? [] : [{ writable: false, source: rootTree, target: '/', owner: null }]),
    mine(layer.source, '/workspace', request.workspace === 'overlay'),
    mine(request.artifacts, '/artifacts', true),
    ...request.caches.map(({ source, target }) => mine(source, target, true)),
  ]
  if (layer.kind === 'overlay') makeLayers(state.directory, layer.source)
  const plan = isHostRoot()
    ? planAsRoot(wanted, layer.kind, state.directory, isDirectory('/mnt') ? '/mnt' : '/tmp')
    : planAsPlainUser(wanted, layer.kind, state.directory)
  const root = plan.mounts.find(({ target }) => target === '/')
  return {
    ...limitPlan,
    ...{ request, state, cgroup, closed },
    writable: [
      request.artifacts,
      ...(layer.kind === 'none' ? [] : [state.directory]),
      ...request.caches.map(({ source }) => source),
    ],
    image:
      host === null
        ? `no image; the tree ${rootTree} is the root directory, read-only`
        : `no image (${request.image} is not used); the programs of this machine, read-only: ${host.trees.join(', ')}`,
    argvFor: ({ command, env }, statusFile, isTrial = false) => {
      const acts: LaunchAct[] = [
        ['read', '3', filterFile],
        ['write', '4', statusFile],
        ...(isTrial && cgroup?.mayRefuse !== true ? [] : (cgroup?.directories ?? [])).map(
          (directory) => ['cgroup', directory] as const,
        ),
        ...(isTrial ? [['show', programs.bwrap, '--version'] as const] : []),
        ...plan.acts,
      ]
      const bwrap = bwrapArguments({
        program: programs.bwrap,
        rootTree: root?.source ?? null,
        links: host?.links ?? [],
        mounts: plan.mounts.filter(({ target }) => target !== '/'),
        network: request.network,
        tmpBytes: Math.min(Math.floor(limits.memoryBytes / 2), tmpBytesMax),
        env: { PATH: host?.path ?? imagePath, HOME: '/tmp', ...host?.env, ...env },
        seccompFd: 3,
        statusFd: 4,
        // Both streams become one inside, so that what bwrap itself has to say stays apart.
        command: [...limitPlan.wrapper, 'sh', '-c', 'exec sh -c "$0" 2>&1', command],
      })
      return launcherArgv(programs.perl, arch, acts, bwrap)
    },
  }
}

const imagePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const tmpBytesMax = 2 * 1024 ** 3

/** Of the caller, or of whoever owns it when root is the caller. */
function mine(source: string, target: string, writable: boolean): WantedMount {
  return { writable, source, target, owner: fileOwner(source) }
}

function makeLayers(directory: string, repository: string): void {
  for (const name of ['lower', 'upper', 'work', 'merged']) makeDirectory(join(directory, name))
  const own = isHostRoot() ? { uid: hostUser, gid: hostUser } : ownUser()
  // The upper layer lends the workspace its owner and permissions.
  giveFile(join(directory, 'upper'), { ...own, mode: fileOwner(repository).mode | 0o700 })
}

function isSystemTree(path: string): boolean {
  return /^\/(?:usr|bin|sbin|lib\w*)(?:\/|$)/.test(path)
}
