import { removeCgroup } from '../io/cgroup.ts'
import { endMarkedProcesses } from '../io/process-table.ts'
import type { SandboxName } from './contract.ts'
import { abandonedStates } from './state.ts'

/** In the environment of every process that is started for a sandbox, with the sandbox's label. */
export const labelVariable = 'GANTRY_SANDBOX'

/** Removes the sandboxes of processes that are gone, by the label that each carries; one line for each. */
export async function sweepStates(
  engine: SandboxName,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const told: string[] = []
  for (const { label, cgroups, remove } of abandonedStates(engine, env)) {
    const ended = endMarkedProcesses(`${labelVariable}=${label}`)
    const stuck = [...(await Promise.all(cgroups.map(removeCgroup))), remove()].filter((why) => why !== null)
    told.push(
      stuck.length === 0
        ? `removed the sandbox ${label}${ended > 0 ? ` and ended ${ended} processes of it` : ''}`
        : `could not remove the sandbox ${label}: ${stuck.join('; ')}`,
    )
  }
  return told
}
