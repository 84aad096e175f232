import { resolve } from 'node:path'
import { defined, type JsonObject } from '../../core/json-fields.ts'
import { findProgram } from '../../io/find-program.ts'
import { agentHooks } from '../claude-code/agent-hooks.ts'
import { environment, lowest } from '../claude-code/launch.ts'
import type { CliPlace } from '../cli/contract.ts'
import type { AgentHooks, SessionRequest } from '../contract.ts'
import type { ClaudeSdkConfig } from './schema.ts'

/** The whole environment of the agent's process. */
export function sdkEnvironment(
  config: ClaudeSdkConfig,
  request: SessionRequest,
  place: Pick<CliPlace, 'isRoot'>,
  credentials: readonly string[],
): Readonly<Record<string, string>> {
  const given = Object.entries(request.env).filter(
    ([name]) => request.endpoint === undefined || !credentials.includes(name),
  )
  return { ...Object.fromEntries(given), ...environment(config, request, place) }
}

/** What the command line says by flags, in the words of the SDK. */
export function sdkSettings(
  config: ClaudeSdkConfig,
  request: SessionRequest,
  { base }: Pick<CliPlace, 'base'>,
): JsonObject {
  const at = (path: string): string => resolve(base, path)
  const { settings } = config
  return defined({
    cwd: request.workspace,
    model: request.model === 'default' ? undefined : request.model,
    pathToClaudeCodeExecutable:
      config.binary === undefined ? undefined : binaryPath(config.binary, request, base),
    permissionMode: config.permission_mode,
    allowDangerouslySkipPermissions: config.permission_mode === 'bypassPermissions',
    plugins: config.plugins.map((path) => ({ type: 'local', path: at(path) })),
    settings: typeof settings === 'string' ? at(settings) : settings,
    settingSources: config.setting_sources,
    strictMcpConfig: config.strict_mcp_config,
    mcpServers: config.mcp_servers,
    allowedTools: config.allowed_tools,
    disallowedTools: config.disallowed_tools,
    agents: config.agents,
    additionalDirectories: config.add_dirs.map(at),
    systemPrompt: systemPrompt(config),
    maxTurns: lowest(config.max_turns, request.maxTurns),
    maxBudgetUsd: lowest(config.max_budget_usd, request.maxCostUsd),
    effort: config.effort,
    fallbackModel: config.fallback_model,
    resume: config.resume,
    includeHookEvents: true,
    hooks: request.hooks === undefined ? undefined : sdkHooks(request.hooks),
  })
}

/** Unless it is replaced, the agent has its own one, as on the command line. */
function systemPrompt({
  system_prompt: own,
  append_system_prompt: append,
}: ClaudeSdkConfig): string | JsonObject {
  if (own === undefined) return defined({ type: 'preset', preset: 'claude_code', append })
  return append === undefined ? own : `${own}\n\n${append}`
}

function binaryPath(binary: string, { env }: SessionRequest, base: string): string {
  return binary.includes('/') ? resolve(base, binary) : (findProgram(binary, env.PATH ?? '') ?? binary)
}

/** Our hooks in the SDK's form: by event, a list of matchers with their functions. */
export function sdkHooks(hooks: AgentHooks): Readonly<Record<string, readonly JsonObject[]>> {
  return Object.fromEntries(
    Object.entries(agentHooks(hooks)).map(([event, answer]) => [event, [{ hooks: [answer] }]]),
  )
}
