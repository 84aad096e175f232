import type { Cgroup } from '../../io/cgroup.ts'
import { treeMemoryBytes } from '../../io/process-table.ts'
import type { LimitState, SandboxLimits } from '../contract.ts'

/** The applied limits, and the replacements for a missing cgroup. */
export interface LimitPlan {
  readonly states: Readonly<Record<keyof SandboxLimits, LimitState>>
  /** A command prefix that limits the processes of the step; empty when a cgroup does. */
  readonly wrapper: readonly string[]
  /** Whether memory use must be polled. */
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
        `; instead the memory of all processes is checked every ${watchEveryMs} ms, and the step is stopped when it exceeds the limit`,
      ),
      // A limit above the number of processors can never be exceeded.
      cpus: unless(limits.cpus >= machine.cpus ? null : missing.cpu, limits.cpus),
      pids: unless(byPrlimit ? null : missing.pids, limits.pids),
      diskBytes: applied(limits.diskBytes),
    },
    wrapper: byPrlimit ? [machine.prlimit ?? 'prlimit', `--nproc=${limits.pids}:${limits.pids}`, '--'] : [],
    needsWatch: missing.memory !== null,
  }
}

const watchEveryMs = 50

/** Calls `exceeded` once when the process and its descendants use more than this. `root` is called until it returns a pid. */
export function watchMemory(root: () => number | null, maxBytes: number, exceeded: () => void): Disposable {
  const timer = setInterval(() => {
    const pid = root()
    if (pid === null || treeMemoryBytes(pid) <= maxBytes) return
    clearInterval(timer)
    exceeded()
  }, watchEveryMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
