import { join } from 'node:path'
import { agentVariables } from '../../config/agent-variables.ts'
import { makeDirectories } from '../../io/directory.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { randomSuffix } from '../../io/ids.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

type EnvironmentFacts = Pick<ExecuteContext, 'agent' | 'modelLink' | 'config' | 'env' | 'runId'>

/** In the environment of every process of a run, so that those of a killed one can be found and ended. */
export const runVariable = 'GANTRY_RUN'

/** The whole environment of one process of Claude Code. What the user says in `execution.env` wins over everything. */
export function processEnvironment(
  { agent, modelLink, config, env: host, runId }: EnvironmentFacts,
  { env }: Pick<ProcessSettings, 'env'>,
  place: ProcessPlace,
): Readonly<Record<string, string>> {
  const { execution, mcp_servers, rewind_file_changes } = config
  return {
    ...hermeticEnv({ host, home: homeOf({ agent, env: host }, place), tmp: place.tmp }),
    // A repository around the store is none of the scenario's business.
    GIT_CEILING_DIRECTORIES: place.dir,
    // Whether to try again is decided for the whole trial, with a fresh sheet of captures.
    CLAUDE_CODE_MAX_RETRIES: '0',
    MCP_TIMEOUT: String(mcp_servers.connection_timeout_ms),
    CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: rewind_file_changes ? '1' : '0',
    ...(execution.max_thinking_tokens !== undefined && {
      MAX_THINKING_TOKENS: String(execution.max_thinking_tokens),
    }),
    ...agentVariables(agent, host, modelLink !== null),
    ...env,
    ...(runId !== undefined && { [runVariable]: runId }),
  }
}

/** Some users are let in by what lies in their HOME; their agent says so. */
export function homeOf(
  { agent, env }: Pick<ExecuteContext, 'agent' | 'env'>,
  place: Pick<ProcessPlace, 'home'>,
): string {
  return agent.home === 'host' && env.HOME !== undefined ? env.HOME : place.home
}

/** Directories that one process has for itself. */
export interface ProcessPlace {
  readonly dir: string
  readonly home: string
  readonly tmp: string
  readonly workspace: string
}

export function makeProcessPlace(workDir: string): ProcessPlace {
  const dir = join(workDir, `p-${randomSuffix(8)}`)
  const place = { dir, home: join(dir, 'home'), tmp: join(dir, 'tmp'), workspace: join(dir, 'workspace') }
  for (const path of [place.home, place.tmp, place.workspace]) makeDirectories(path)
  return place
}
