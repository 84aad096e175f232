import type { SandboxReport } from '../contract.ts'
import type { ContainerPlan } from './container-body.ts'
import type { ContainerCgroup } from './container-cgroup.ts'
import { isRootless } from './engine-facts.ts'
import type { Inspected } from './inspect-container.ts'
import { limitStates, swapShortfall } from './limit-states.ts'

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
