import { resolve } from 'node:path'
import type { AgentSession, SessionRequest } from '../../agents/contract.ts'
import type { AgentConfig } from '../../agents/index.ts'
import { GantryError } from '../../core/error.ts'
import { isObject } from '../../core/json-fields.ts'
import { readJsonIfExists } from '../../io/files.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

type ClaudeCode = Extract<AgentConfig, { driver: 'claude-code' }>

/**
 * The user's agent as configured for a process of the evaluation. Plugins and settings files are only those of the evaluation,
 * because any others would be measured too.
 */
export function claudeSettings(
  settings: AgentConfig,
  base: string,
  config: PluginConfig,
  process: ProcessSettings,
  mocks: string | null = null,
): AgentConfig {
  if (settings.driver !== 'claude-code') return settings
  const { execution, scope } = config
  const disallowed = new Set([...settings.disallowed_tools, ...process.disallowedTools])
  const appended = [settings.append_system_prompt, process.appendSystemPrompt].filter((text) => text != null)
  const { append_system_prompt: _, settings: __, max_turns: ___, resume: ____, ...rest } = settings
  return {
    ...rest,
    plugins: [...process.plugins],
    permission_mode: permissionMode(settings, execution.permission_bypass),
    allowed_tools: [...new Set([...settings.allowed_tools, ...process.allowedTools])],
    disallowed_tools: [...disallowed],
    add_dirs: [...new Set([...settings.add_dirs, ...process.addDirs])],
    setting_sources: scope.mcp_servers ? ['project'] : [],
    ...(mocks !== null && { mcp_config: [mocks], strict_mcp_config: true }),
    ...(appended.length > 0 && { append_system_prompt: appended.join('\n\n') }),
    ...mergedSettings(settings, base, execution.sandbox),
  }
}

function permissionMode(
  { permission_mode: own }: ClaudeCode,
  bypass: boolean,
): ClaudeCode['permission_mode'] {
  if (bypass) return 'bypassPermissions'
  return own === 'bypassPermissions' ? 'default' : own
}

/** Merges the sandbox into the settings of the user's agent; the evaluation's values override. */
function mergedSettings(
  { settings }: ClaudeCode,
  base: string,
  sandbox: PluginConfig['execution']['sandbox'],
): Pick<ClaudeCode, 'settings'> {
  if (sandbox === undefined) return settings === undefined ? {} : { settings }
  const own = typeof settings === 'string' ? readSettings(resolve(base, settings)) : (settings ?? {})
  return { settings: { ...own, sandbox: sandboxSettings(sandbox) } as ClaudeCode['settings'] }
}

function readSettings(path: string): object {
  const read = readJsonIfExists(path)
  if (isObject(read)) return read
  throw new GantryError('NOT_FOUND', `${path}, the agent's settings, is not a file with a JSON object`, {
    hint: 'Correct `settings` of the agent in gantry.yaml.',
  })
}

/** Throws GantryError USAGE for an agent that cannot be kept alive, or whose settings cannot be changed. */
export function claudeSessionOpener(
  { agent, config }: Pick<ExecuteContext, 'agent' | 'config'>,
  settings: ProcessSettings,
  /** A file with servers instead of those of the plugins. */
  mocks: string | null = null,
): (request: SessionRequest) => Promise<AgentSession> {
  const driver =
    agent.driver.name === 'claude-code'
      ? agent.withSettings?.((own, base) => claudeSettings(own, base, config, settings, mocks))
      : undefined
  const open = driver?.openSession
  if (driver !== undefined && open !== undefined) return (request) => open.call(driver, request)
  throw new GantryError(
    'USAGE',
    `agent '${agent.name}' cannot run plugin trials: its driver is ${agent.driver.name}`,
    { hint: 'Name an agent whose driver is claude-code in execution.agent.' },
  )
}

type Sandbox = NonNullable<PluginConfig['execution']['sandbox']>
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The sandbox of the configuration in Claude Code's settings: the same keys in camelCase. */
function sandboxSettings(sandbox: Sandbox): { readonly [key: string]: Json } {
  const { ignore_violations, ...rest } = sandbox
  return {
    ...camelKeys(rest),
    // Its keys are commands, so they are not converted.
    ...(ignore_violations !== undefined && { ignoreViolations: ignore_violations }),
  }
}

function camelKeys(value: object): { readonly [key: string]: Json } {
  const known = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(
    known.map(([key, field]) => [camel(key), isObject(field) ? camelKeys(field) : field]),
  )
}

function camel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
