import { isOwnerAlive, thisProcess } from '../../io/process-owner.ts'
import type { LimitState, SandboxLimits, SandboxReport, SandboxRequest } from '../contract.ts'
import { hostname } from '../places.ts'
import type { EngineConnection } from './connect-engine.ts'
import type { ContainerCgroup } from './container-cgroup.ts'
import { type EngineFacts, isRootless, mapsUsers } from './engine-facts.ts'
import type { Inspected } from './inspect-container.ts'
import { seccompProfile } from './seccomp-profile.ts'
import { holderUser, type MountedPlaces, type StepUser, userOf } from './workspace.ts'

export interface ContainerPlan {
  readonly request: SandboxRequest
  readonly connection: EngineConnection
  /** Of the container; the names of its volumes begin with it. */
  readonly name: string
  readonly facts: EngineFacts
  readonly user: StepUser
  readonly places: MountedPlaces
  readonly labels: Readonly<Record<string, string>>
}

/**
 * Whether the only step is the first process of the container: the shell that waits for it on its standard input. A step beside
 * another process has to be started by the engine, which takes longer.
 */
export function isFirstProcess({
  request,
  connection,
}: Pick<ContainerPlan, 'request' | 'connection'>): boolean {
  return request.onlyStep !== undefined && connection.product === 'docker'
}

/** The request for a container that fulfils every guarantee and waits. Steps run in it one by one. */
export function containerBody(plan: ContainerPlan): unknown {
  const { request, connection, facts, user, places, labels } = plan
  const { limits } = request
  const isAlone = request.network === 'none' && connection.product === 'docker'
  return {
    Image: request.image,
    // An engine that manages a network, even the one called none, starts a program of its own for each container: half of all the time.
    ...(isAlone && { NetworkDisabled: true, Hostname: hostname }),
    ...(isFirstProcess(plan)
      ? { ...{ Entrypoint: ['sh'], Cmd: [] }, ...{ OpenStdin: true, StdinOnce: true }, User: userOf(user) }
      : { Entrypoint: ['sh', '-c'], Cmd: ['exec sleep 2147483647'], User: holderUser(user) }),
    WorkingDir: '/workspace',
    Labels: labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: { none: 'none', allow: 'default', host: 'host' }[request.network],
      ReadonlyRootfs: true,
      Init: true,
      CapDrop: ['ALL'],
      // Podman accepts only a file on its own machine here, and keeps its own filter.
      SecurityOpt: [
        'no-new-privileges',
        ...(connection.product === 'docker' ? [`seccomp=${seccompProfile()}`] : []),
      ],
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(cpusFor(limits.cpus, facts) * 1e9),
      PidsLimit: limits.pids,
      // Otherwise other users could not enter it, and the repository may be below it.
      ...(request.repository.startsWith('/root/') && {
        Tmpfs: { '/root': 'rw,nosuid,nodev,mode=0755,size=1m' },
      }),
      ...(hasReadOnlyProc(plan) && { ReadonlyPaths: readOnlyPaths }),
      // Only Gantry reads the output; the engine need not store it.
      LogConfig: { Type: connection.product === 'podman' ? 'k8s-file' : 'none' },
      ...usersAsOutside(connection, facts),
      Mounts: [
        ...places.mounts,
        ...(isAlone
          ? [{ Target: '/etc/hosts', ReadOnly: true, Type: 'bind', Source: places.hostsFile }]
          : []),
      ],
    },
  }
}

/** The engine's own, and all of /proc: through it a process could write to the memory of another one. */
const readOnlyPaths = ['/proc', '/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

/** To start a step under AppArmor, the engine writes to /proc. Podman does not take the list. */
function hasReadOnlyProc({ connection, facts }: Pick<ContainerPlan, 'connection' | 'facts'>): boolean {
  return (
    connection.product === 'docker' &&
    !(facts.SecurityOptions ?? []).some((one) => /^name=apparmor/.test(one))
  )
}

/** A user inside must be the same user outside, because file ownership depends on it. */
function usersAsOutside({ product }: EngineConnection, facts: EngineFacts): { readonly UsernsMode?: string } {
  if (product === 'podman' && isRootless(facts)) return { UsernsMode: 'keep-id' }
  return mapsUsers(facts) ? { UsernsMode: 'host' } : {}
}

/** What was applied, as reported by engine and kernel. */
export function reportOf(
  { request, connection, facts, user, places }: ContainerPlan,
  inspected: Inspected,
  cgroup: ContainerCgroup | null,
): SandboxReport {
  const isPodman = connection.product === 'podman'
  return {
    engine: 'docker',
    engineVersion: isPodman ? `Podman ${connection.version}` : connection.version,
    image: inspected.imageId,
    sandboxed: true,
    user: userOf(user),
    network: request.network,
    workspace: request.workspace,
    limits: limitStates(
      request.limits,
      { ...inspected, kernelMemoryBytes: cgroup?.memoryLimitBytes() ?? null },
      facts,
    ),
    shortfalls: [
      ...places.shortfalls,
      ...swapShortfall(facts),
      ...(isPodman && cgroup?.oomKills() == null
        ? ['Podman does not report when memory runs out: the step then fails with exit code 137.']
        : []),
      ...(hasReadOnlyProc({ connection, facts })
        ? []
        : ['Processes of a step can write to the memory of one another through /proc.']),
      ...(isPodman ? ['Podman keeps its own filter of system calls, which may allow more than ours.'] : []),
      ...(!isPodman && isRootless(facts)
        ? [
            'The engine runs without root: files that steps write to /artifacts belong to another user, if they can write there.',
          ]
        : []),
      ...(request.network === 'allow' && inspected.networks.every((name) => name === 'none')
        ? ['The engine has no network, so steps have none although it is allowed.']
        : []),
    ],
  }
}

/** The limits that the engine recorded for the container, and those that the kernel enforces, where visible. */
interface GivenLimits {
  readonly memoryBytes: number | undefined
  readonly cpus: number | undefined
  readonly pids: number | undefined
  readonly kernelMemoryBytes: number | null
}

/** A container cannot have more processors than there are; then it has all of them. */
function cpusFor(wanted: number, { NCPU }: EngineFacts): number {
  return NCPU === undefined || NCPU < 1 ? wanted : Math.min(wanted, NCPU)
}

/** An engine drops unsupported limits with a warning at most, so every limit is checked. */
export function limitStates(
  wanted: SandboxLimits,
  given: GivenLimits,
  facts: EngineFacts,
): SandboxReport['limits'] {
  const never =
    isRootless(facts) && facts.CgroupVersion === '1'
      ? 'an engine without root cannot set limits on cgroup version 1'
      : null
  const state = (want: number, got: number | undefined, missing: string | null): LimitState => {
    const why =
      never ??
      missing ??
      (got === want ? null : `the engine applied ${got === undefined || got <= 0 ? 'none' : got} instead`)
    return why === null ? { kind: 'applied', value: want } : { kind: 'not_applied', wanted: want, why }
  }
  return {
    memoryBytes: state(wanted.memoryBytes, given.memoryBytes, memoryMissing(wanted, given, facts)),
    cpus: state(
      cpusFor(wanted.cpus, facts),
      given.cpus,
      facts.CpuCfsQuota === false ? 'the kernel does not support CPU quotas' : null,
    ),
    pids: state(
      wanted.pids,
      given.pids,
      facts.PidsLimit === false ? 'the kernel cannot limit the number of processes' : null,
    ),
    diskBytes: { kind: 'applied', value: wanted.diskBytes },
  }
}

/** The kernel counts in pages. */
const pageBytes = 65_536

function memoryMissing(wanted: SandboxLimits, given: GivenLimits, facts: EngineFacts): string | null {
  if (facts.MemoryLimit === false) return 'the kernel cannot limit memory'
  const inForce = given.kernelMemoryBytes
  if (inForce === null || Math.abs(inForce - wanted.memoryBytes) < pageBytes) return null
  return `the kernel enforces a limit of ${inForce} bytes instead`
}

export function swapShortfall({ SwapLimit }: EngineFacts): readonly string[] {
  return SwapLimit === false ? ['The kernel does not count swap: memory beyond the limit may go there.'] : []
}

export const runLabel = 'gantry.run'
const ownerLabel = 'gantry.owner'

/** Attached to everything that is created for a run, so that it can be found when its owner was killed. */
export function labelsFor(runId: string): Readonly<Record<string, string>> {
  const { pid, startTicks, host } = thisProcess()
  return { [runLabel]: runId, [ownerLabel]: JSON.stringify([pid, startTicks, host]) }
}

/** An owner that cannot be read counts as alive. */
export function isOwnerDead(labels: Readonly<Record<string, unknown>> | null): boolean {
  try {
    const [pid, startTicks, host] = JSON.parse(String(labels?.[ownerLabel])) as unknown[]
    if (typeof pid !== 'number' || typeof host !== 'string') return false
    return !isOwnerAlive({ pid, startTicks: typeof startTicks === 'number' ? startTicks : null, host })
  } catch {
    return false
  }
}
