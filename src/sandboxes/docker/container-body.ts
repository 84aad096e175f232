import type { SandboxRequest } from '../contract.ts'
import type { EngineConnection } from './connect-engine.ts'
import { type EngineFacts, isRootless, mapsUsers } from './engine-facts.ts'
import { cpusFor } from './limit-states.ts'
import { seccompProfile } from './seccomp-profile.ts'
import { holderUser, type StepUser } from './step-user.ts'
import type { Workspace } from './workspace.ts'

export interface ContainerPlan {
  readonly request: SandboxRequest
  readonly connection: EngineConnection
  /** Of the container, and of its volume where that has one. */
  readonly name: string
  readonly facts: EngineFacts
  readonly user: StepUser
  readonly workspace: Workspace
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

export function needsNamedVolume({ product }: EngineConnection, { volume }: Workspace): boolean {
  return product === 'podman' && volume !== null
}

/** A user inside must be the same user outside: whose file is whose is decided by it. */
function usersAsOutside({ product }: EngineConnection, facts: EngineFacts): { readonly UsernsMode?: string } {
  if (product === 'podman' && isRootless(facts)) return { UsernsMode: 'keep-id' }
  return mapsUsers(facts) ? { UsernsMode: 'host' } : {}
}
