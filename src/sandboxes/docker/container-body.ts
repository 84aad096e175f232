import { isOwnerAlive, thisProcess } from '../../io/process-owner.ts'
import type { LimitState, SandboxLimits, SandboxReport, SandboxRequest } from '../contract.ts'
import type { EngineConnection } from './connect-engine.ts'
import type { ContainerCgroup } from './container-cgroup.ts'
import { type EngineFacts, isRootless, mapsUsers } from './engine-facts.ts'
import type { Inspected } from './inspect-container.ts'
import { seccompProfile } from './seccomp-profile.ts'
import { holderUser, type MountedWorkspace, type StepUser } from './workspace.ts'

export interface ContainerPlan {
  readonly request: SandboxRequest
  readonly connection: EngineConnection
  /** Of the container, and of its volume where that has one. */
  readonly name: string
  readonly facts: EngineFacts
  readonly user: StepUser
  readonly workspace: MountedWorkspace
  readonly labels: Readonly<Record<string, string>>
}

/** What the engine is asked for: a container that holds every promise and waits. Steps are run in it one by one. */
export function containerBody(plan: ContainerPlan): unknown {
  const { request, connection, name, facts, user, workspace, labels } = plan
  const { limits } = request
  return {
    Image: request.image,
    Entrypoint: ['sh', '-c'],
    Cmd: ['exec sleep 2147483647'],
    User: holderUser(user),
    WorkingDir: '/workspace',
    Labels: labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: request.network === 'none' ? 'none' : 'default',
      ReadonlyRootfs: true,
      Init: true,
      CapDrop: ['ALL'],
      // Podman takes only a file of its own machine here, and keeps its own filter.
      SecurityOpt: [
        'no-new-privileges',
        ...(connection.product === 'docker' ? [`seccomp=${seccompProfile()}`] : []),
      ],
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(cpusFor(limits.cpus, facts) * 1e9),
      PidsLimit: limits.pids,
      // What lies in it counts as memory, so that limit holds for it too.
      Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${limits.memoryBytes}` },
      // Output goes to us alone; the engine need not keep it.
      LogConfig: { Type: connection.product === 'podman' ? 'k8s-file' : 'none' },
      ...usersAsOutside(connection, facts),
      Mounts: [
        needsNamedVolume(connection, workspace)
          ? { Type: 'volume', Source: name, Target: '/workspace' }
          : workspace.mount,
        { Type: 'bind', Source: request.artifacts, Target: '/artifacts' },
        ...request.caches.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target })),
      ],
    },
  }
}

export function needsNamedVolume({ product }: EngineConnection, { volume }: MountedWorkspace): boolean {
  return product === 'podman' && volume !== null
}

/** A user inside must be the same user outside: whose file is whose is decided by it. */
function usersAsOutside({ product }: EngineConnection, facts: EngineFacts): { readonly UsernsMode?: string } {
  if (product === 'podman' && isRootless(facts)) return { UsernsMode: 'keep-id' }
  return mapsUsers(facts) ? { UsernsMode: 'host' } : {}
}

/** What was really given, as far as engine and kernel tell. */
export function reportOf(
  { request, connection, facts, user, workspace }: ContainerPlan,
  inspected: Inspected,
  cgroup: ContainerCgroup | null,
): SandboxReport {
  const isPodman = connection.product === 'podman'
  return {
    engine: 'docker',
    engineVersion: isPodman ? `Podman ${connection.version}` : connection.version,
    image: inspected.imageId,
    sandboxed: true,
    user: `${user.uid}:${user.gid}`,
    network: request.network,
    workspace: request.workspace,
    limits: limitStates(
      request.limits,
      { ...inspected, kernelMemoryBytes: cgroup?.memoryLimitBytes() ?? null },
      facts,
    ),
    shortfalls: [
      ...workspace.shortfalls,
      ...swapShortfall(facts),
      ...(isPodman && cgroup?.oomKills() == null
        ? ['Podman does not tell when memory runs out: the step then fails with exit code 137.']
        : []),
      ...(isPodman ? ['Podman keeps its own filter of system calls, which may allow more than ours.'] : []),
      ...(!isPodman && isRootless(facts)
        ? [
            'The engine runs without root: what steps write to /artifacts belongs to another user, if they can write there.',
          ]
        : []),
      ...(request.network === 'allow' && inspected.networks.every((name) => name === 'none')
        ? ['The engine has no network to give: there is none although it is allowed.']
        : []),
    ],
  }
}

/** What the engine wrote down for the container, and what the kernel has in force where that can be seen. */
interface GivenLimits {
  readonly memoryBytes: number | undefined
  readonly cpus: number | undefined
  readonly pids: number | undefined
  readonly kernelMemoryBytes: number | null
}

/** A container cannot be given more processors than there are; it then has all of them. */
function cpusFor(wanted: number, { NCPU }: EngineFacts): number {
  return NCPU === undefined || NCPU < 1 ? wanted : Math.min(wanted, NCPU)
}

/** An engine drops what it cannot do with a warning at most, so every limit is looked for. */
export function limitStates(
  wanted: SandboxLimits,
  given: GivenLimits,
  facts: EngineFacts,
): SandboxReport['limits'] {
  const never =
    isRootless(facts) && facts.CgroupVersion === '1'
      ? 'an engine that runs without root has no limits on cgroup version 1'
      : null
  const state = (want: number, got: number | undefined, missing: string | null): LimitState => {
    const why =
      never ??
      missing ??
      (got === want ? null : `the engine has set ${got === undefined || got <= 0 ? 'none' : got} instead`)
    return why === null ? { kind: 'applied', value: want } : { kind: 'not_applied', wanted: want, why }
  }
  return {
    memoryBytes: state(wanted.memoryBytes, given.memoryBytes, memoryMissing(wanted, given, facts)),
    cpus: state(
      cpusFor(wanted.cpus, facts),
      given.cpus,
      facts.CpuCfsQuota === false ? 'the kernel has no quota of processor time' : null,
    ),
    pids: state(
      wanted.pids,
      given.pids,
      facts.PidsLimit === false ? 'the kernel cannot limit the number of processes' : null,
    ),
  }
}

/** The kernel counts in pages. */
const pageBytes = 65_536

function memoryMissing(wanted: SandboxLimits, given: GivenLimits, facts: EngineFacts): string | null {
  if (facts.MemoryLimit === false) return 'the kernel cannot limit memory'
  const inForce = given.kernelMemoryBytes
  if (inForce === null || Math.abs(inForce - wanted.memoryBytes) < pageBytes) return null
  return `the kernel has a limit of ${inForce} bytes in force instead`
}

export function swapShortfall({ SwapLimit }: EngineFacts): readonly string[] {
  return SwapLimit === false ? ['The kernel does not count swap: memory beyond the limit may go there.'] : []
}

export const runLabel = 'gantry.run'
const ownerLabel = 'gantry.owner'

/** On everything that is made for a run, so that it can be found when its owner was killed. */
export function labelsFor(runId: string): Readonly<Record<string, string>> {
  const { pid, startTicks, host } = thisProcess()
  return { [runLabel]: runId, [ownerLabel]: JSON.stringify([pid, startTicks, host]) }
}

/** Whoever cannot be read is taken for alive. */
export function isOwnerDead(labels: Readonly<Record<string, string>> | null | undefined): boolean {
  try {
    const [pid, startTicks, host] = JSON.parse(labels?.[ownerLabel] ?? '') as unknown[]
    if (typeof pid !== 'number' || typeof host !== 'string') return false
    return !isOwnerAlive({ pid, startTicks: typeof startTicks === 'number' ? startTicks : null, host })
  } catch {
    return false
  }
}
