import type { LimitState, SandboxLimits, SandboxReport } from '../contract.ts'
import { type EngineFacts, isRootless } from './engine-facts.ts'

/** What the engine wrote down for the container, and what the kernel has in force where that can be seen. */
export interface GivenLimits {
  readonly memoryBytes: number | undefined
  readonly cpus: number | undefined
  readonly pids: number | undefined
  readonly kernelMemoryBytes: number | null
}

/** A container cannot be given more processors than there are; it then has all of them. */
export function cpusFor(wanted: number, { NCPU }: EngineFacts): number {
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
