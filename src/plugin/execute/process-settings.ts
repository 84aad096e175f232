import { join } from 'node:path'
import { agentVariables } from '../../config/agent-variables.ts'
import { makeDirectories } from '../../io/directory.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { randomSuffix } from '../../io/ids.ts'
import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { ExecuteContext } from './request.ts'

export type ProcessSettings = ReturnType<typeof processSettings>

/** Needed to see components fire. `Task` is the older name of `Agent`. */
const alwaysAllowed = ['Skill', 'SlashCommand', 'Task', 'Agent', 'Read', 'Glob', 'Grep']

/**
 * Settings of a process that stay fixed until it ends. Scenarios with equal settings can share one. `scenario` null: only for the
 * load check.
 */
export function processSettings(
  { config, plugin, crowd }: Pick<ExecuteContext, 'config' | 'plugin' | 'crowd'>,
  arm: Arm,
  scenario: PluginScenario | null,
) {
  const { execution } = config
  const facts = scenario?.case
  const needed = new Set(scenario?.needs_tools)
  const own = arm === 'without' ? [] : [plugin.plugin_path]
  const others = [...(facts?.plugins ?? []), ...(arm === 'crowd' ? crowd : [])]
  return {
    /** Directories of plugins, absolute, in the order in which they are loaded. */
    plugins: [...own, ...unique(others.filter((path) => path !== plugin.plugin_path)).toSorted()],
    model: execution.model === 'default' ? (facts?.model ?? 'default') : execution.model,
    allowedTools: unique([
      ...execution.allowed_tools,
      ...(facts?.allowed_tools ?? []),
      ...needed,
      ...alwaysAllowed,
    ]),
    disallowedTools: unique([
      ...execution.disallowed_tools.filter((tool) => !needed.has(tool)),
      ...(facts?.disallowed_tools ?? []),
    ]),
    addDirs: unique([...execution.additional_directories, ...(facts?.add_dirs ?? [])]),
    env: { ...execution.env, ...facts?.env } as Readonly<Record<string, string>>,
    appendSystemPrompt: facts?.append_system_prompt ?? null,
    /** Instead of the plugins' MCP servers; null: those run. */
    mocks: arm === 'without' ? null : (facts?.mocks ?? null),
  }
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)]
}

type EnvironmentFacts = Pick<ExecuteContext, 'agent' | 'modelLink' | 'config' | 'env' | 'runId'>

/** Set in the environment of every process of a run, so that processes of a killed run can be found and ended. */
export const runVariable = 'GANTRY_RUN'

/** The whole environment of one process of Claude Code. Values of `execution.env` override all others. */
export function processEnvironment(
  { agent, modelLink, config, env: host, runId }: EnvironmentFacts,
  { env }: Pick<ProcessSettings, 'env'>,
  place: ProcessPlace,
): Readonly<Record<string, string>> {
  const { execution, mcp_servers, rewind_file_changes } = config
  return {
    ...hermeticEnv({ host, home: homeOf({ agent, env: host }, place), tmp: place.tmp }),
    // Git must not find a repository above the workspace.
    GIT_CEILING_DIRECTORIES: place.dir,
    // Retries are decided for the whole trial, with a new capture sheet.
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

/** Some users sign in with credentials in their HOME; the agent's settings say so. */
export function homeOf(
  { agent, env }: Pick<ExecuteContext, 'agent' | 'env'>,
  place: Pick<ProcessPlace, 'home'>,
): string {
  return agent.home === 'host' && env.HOME !== undefined ? env.HOME : place.home
}

export type ProcessPlace = ReturnType<typeof makeProcessPlace>

export function makeProcessPlace(workDir: string) {
  const dir = join(workDir, `p-${randomSuffix(8)}`)
  const place = { dir, home: join(dir, 'home'), tmp: join(dir, 'tmp'), workspace: join(dir, 'workspace') }
  for (const path of [place.home, place.tmp, place.workspace]) makeDirectories(path)
  return place
}
