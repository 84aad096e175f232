import type { Cgroup } from '../../io/cgroup.ts'
import { treeMemoryBytes } from '../../io/process-table.ts'
import type { LimitState, SandboxLimits } from '../contract.ts'

/** What is really in force, and what is done where a cgroup cannot be had. */
export interface LimitPlan {
  readonly states: Readonly<Record<keyof SandboxLimits, LimitState>>
  /** Started before the step to limit its processes; empty when a cgroup does. */
  readonly wrapper: readonly string[]
  /** Whether somebody has to look how much memory is used. */
  readonly needsWatch: boolean
}

/** bwrap itself and the first process of the namespace. */
export const ownProcesses = 2

export function planLimits(
  limits: SandboxLimits,
  missing: Cgroup['missing'],
  machine: { readonly cpus: number; readonly prlimit: string | null },
): LimitPlan {
  const applied = (value: number): LimitState => ({ kind: 'applied', value })
  const unless = (why: string | null, wanted: number, remark = ''): LimitState =>
    why === null ? applied(wanted) : { kind: 'not_applied', wanted, why: `${why}${remark}` }
  const byPrlimit = missing.pids !== null && machine.prlimit !== null
  return {
    states: {
      memoryBytes: unless(
        missing.memory,
        limits.memoryBytes,
        `; instead the memory of all processes is looked at every ${watchEveryMs} ms, and the step is ended when it is too much`,
      ),
      // More processors than there are is a limit that nothing can pass.
      cpus: unless(limits.cpus >= machine.cpus ? null : missing.cpu, limits.cpus),
      pids: unless(byPrlimit ? null : missing.pids, limits.pids),
    },
    wrapper: byPrlimit ? [machine.prlimit ?? 'prlimit', `--nproc=${limits.pids}:${limits.pids}`, '--'] : [],
    needsWatch: missing.memory !== null,
  }
}

export const watchEveryMs = 50

/** Calls `exceeded` once when everything below the process takes more than this. `root` is asked until it knows. */
export function watchMemory(root: () => number | null, maxBytes: number, exceeded: () => void): Disposable {
  const timer = setInterval(() => {
    const pid = root()
    if (pid === null || treeMemoryBytes(pid) <= maxBytes) return
    clearInterval(timer)
    exceeded()
  }, watchEveryMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
