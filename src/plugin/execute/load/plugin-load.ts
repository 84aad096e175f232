import type { LoadedParts } from '../../../agents/contract.ts'
import type { Analysis, LoadErrorType, PluginLoad } from '../../analyze/contract.ts'
import { loadErrorType, recoveryHints } from './load-error.ts'
import { missingParts } from './missing-parts.ts'
import { proveLoad } from './prove-load.ts'

type Plugin = Pick<Analysis, 'plugin_name' | 'plugin_path' | 'components'>

/** What is told of a plugin that Claude Code was asked to load. */
export function pluginLoad(plugin: Plugin, loaded: LoadedParts, durationMs: number): PluginLoad {
  const problem = proveLoad({ plugins: [plugin.plugin_path] }, plugin.plugin_path, loaded)
  const server = problem === null ? brokenServer(plugin, loaded) : null
  return {
    ...factsOf(plugin, durationMs),
    loaded: problem === null,
    cli_version: loaded.version,
    registered_tools: loaded.tools,
    registered_commands: loaded.commands,
    registered_skills: loaded.skills,
    registered_agents: loaded.agents,
    mcp_servers: loaded.mcp_servers,
    plugins: loaded.plugins.filter(({ path }) => path !== plugin.plugin_path).map(({ name }) => name),
    session_id: loaded.session_id,
    ...(problem !== null && errorOf(problem, loadErrorType(problem))),
    ...(server !== null && errorOf(server.words, server.type)),
    warnings: problem === null ? missingParts(plugin.components, loaded) : [],
  }
}

/** Claude Code never got so far as to say what it loaded. */
export function failedLoad(plugin: Plugin, words: string, durationMs: number): PluginLoad {
  return {
    ...factsOf(plugin, durationMs),
    loaded: false,
    cli_version: null,
    registered_tools: [],
    registered_commands: [],
    registered_skills: [],
    registered_agents: [],
    mcp_servers: [],
    plugins: [],
    session_id: null,
    ...errorOf(words, loadErrorType(words)),
    warnings: [],
  }
}

/** No model is asked: a load costs nothing. */
function factsOf({ plugin_name, plugin_path }: Plugin, durationMs: number) {
  return { plugin_name, plugin_path, duration_ms: Math.round(durationMs), load_cost_usd: 0 }
}

function errorOf(error: string, error_type: LoadErrorType) {
  return { error, error_type, recovery_hint: recoveryHints[error_type] }
}

/** The plugin is there without one of its servers: the scenarios of that one cannot be tried. */
function brokenServer(
  { components }: Plugin,
  { mcp_servers }: LoadedParts,
): { readonly words: string; readonly type: LoadErrorType } | null {
  const own = new Set(components.mcp_servers.map(({ cli_name }) => cli_name))
  const broken = mcp_servers.find(({ name, status }) => own.has(name) && status !== 'connected')
  if (broken === undefined) return null
  const { name, status, error = '' } = broken
  const words = `the MCP server ${name} is ${status}${error === '' ? '' : `: ${error}`}`
  const type = status === 'needs-auth' ? 'mcp_auth_required' : serverErrorType(status, error)
  return { words, type }
}

function serverErrorType(status: string, error: string): LoadErrorType {
  if (status === 'pending' || /timed? ?out/i.test(error)) return 'mcp_timeout'
  return /unauthori[sz]ed|\b401\b|authenticat/i.test(error) ? 'mcp_auth_required' : 'mcp_connection_failed'
}
