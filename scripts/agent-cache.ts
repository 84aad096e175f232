import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type PinnedAgent, pinnedAgents } from './pinned-agents.ts'

/** Where the tests' agents are installed: outside the package, hundreds of megabytes, shared by all clones. */
const agentCache =
  process.env.GANTRY_AGENT_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gantry', 'agents')

export function agentDirectory({ id, version }: PinnedAgent): string {
  return join(agentCache, `${id}-${version}`)
}

export interface InstalledAgent {
  readonly id: string
  readonly version: string
  readonly directory: string
  /** Absolute; null for a library. */
  readonly program: string | null
}

/** null when it is not installed. */
export function findAgent(id: string): InstalledAgent | null {
  const pinned = pinnedAgents.find((agent) => agent.id === id)
  if (pinned === undefined) throw new Error(`${id} is not among the pinned agents`)
  const directory = agentDirectory(pinned)
  if (!existsSync(directory)) return null
  return {
    id,
    version: pinned.version,
    directory,
    program: pinned.program === undefined ? null : join(directory, 'node_modules', '.bin', pinned.program),
  }
}
