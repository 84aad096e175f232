import { parseVersion } from '../../agents/cli/version.ts'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { exec } from '../../io/exec.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { findAgentProgram } from '../install/choose-agents.ts'

export interface FoundAgent {
  readonly path: string
  /** null when it does not tell. */
  readonly version: string | null
}

/** A first start from a cold disk takes seconds for the larger agents. */
const timeoutMs = 30_000

/** The agent's program and its version; null when it is not on the PATH. */
export async function findAgent(
  agent: HookedAgent,
  {
    env,
    signal,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly signal: AbortSignal },
): Promise<FoundAgent | null> {
  const path = findAgentProgram(agent, env)
  if (path === null) return null
  // Programs write into their HOME even when they are only asked for their version.
  using scratch = temporaryDirectory('gantry-status-')
  const result = await exec({
    argv: [path, '--version'],
    cwd: scratch.path,
    env: hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path }),
    timeoutMs,
    maxOutputBytes: 4_096,
    signal,
  })
  return { path, version: parseVersion(result.stdout.text) ?? parseVersion(result.stderr.text) }
}
