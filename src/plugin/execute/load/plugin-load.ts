import type { FailureReport, LoadedParts } from '../../../agents/contract.ts'
import { realPath } from '../../../io/resolve-links.ts'
import type { Analysis, Components, LoadErrorType, PluginLoad } from '../../analyze/contract.ts'
import { type LiveClaude, openLiveClaude } from '../live-claude.ts'
import { type ProcessSettings, processSettings } from '../process-settings.ts'
import type { ExecuteContext } from '../request.ts'

type Plugin = Pick<Analysis, 'plugin_name' | 'plugin_path' | 'components'>

export function pluginLoad(plugin: Plugin, loaded: LoadedParts, durationMs: number): PluginLoad {
  const problem = proveLoad({ plugins: [plugin.plugin_path] }, plugin.plugin_path, loaded)
  const server = problem === null ? brokenServer(plugin, loaded) : null
  return {
    ...factsOf(plugin, durationMs),
    loaded: problem === null,
    cli_version: loaded.version,
    ...(loaded.model !== undefined && { model: loaded.model }),
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

/** Claude Code ended or hung before it reported what it loaded. */
export function failedLoad(plugin: Plugin, words: string, durationMs: number): PluginLoad {
  const lists = { tools: [], skills: [], agents: [], commands: [], plugins: [], plugin_errors: [] }
  const nothing: LoadedParts = { ...lists, version: null, session_id: null, mcp_servers: [] }
  return { ...pluginLoad(plugin, nothing, durationMs), ...errorOf(words, loadErrorType(words)) }
}

/** Loading calls no model, so it costs nothing. */
function factsOf({ plugin_name, plugin_path }: Plugin, durationMs: number) {
  return { plugin_name, plugin_path, duration_ms: Math.round(durationMs), load_cost_usd: 0 }
}

function errorOf(error: string, error_type: LoadErrorType) {
  return { error, error_type, recovery_hint: recoveryHints[error_type] }
}

/** The plugin loaded without one of its servers, so scenarios of that server cannot run. */
function brokenServer({ components }: Plugin, { mcp_servers }: LoadedParts) {
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

/** Components of the plugin that Claude Code did not register, as messages. */
function missingParts(components: Components, loaded: LoadedParts): readonly string[] {
  const { skills, agents, commands, mcp_servers } = loaded
  // A user-only skill is listed as a command.
  const invocable = new Set([...skills, ...commands])
  const servers = new Set(mcp_servers.map(({ name }) => name))
  return [
    ...components.skills
      .filter(({ cli_name, disable_model_invocation }) =>
        disable_model_invocation ? !invocable.has(cli_name) : !skills.includes(cli_name),
      )
      .map(({ cli_name, path }) =>
        absent('skill', cli_name, path, 'its description may be missing or unreadable'),
      ),
    ...components.agents
      .filter(({ cli_name }) => !agents.includes(cli_name))
      .map(({ cli_name, path }) => absent('agent', cli_name, path, 'its frontmatter may be unreadable')),
    ...components.commands
      .filter(({ cli_name }) => !invocable.has(cli_name))
      .map(({ cli_name, path }) => absent('command', cli_name, path, 'its frontmatter may be unreadable')),
    ...components.mcp_servers
      .filter(({ cli_name }) => !servers.has(cli_name))
      .map(({ cli_name, path }) => absent('MCP server', cli_name, path, 'its configuration may be invalid')),
  ]
}

function absent(what: string, name: string, path: string, why: string): string {
  return `Claude Code did not register the ${what} ${name} (${path}): ${why}`
}

/** The kind of problem, by Claude Code's message. */
export function loadErrorType(words: string): LoadErrorType {
  return kinds.find(([pattern]) => pattern.test(words))?.[1] ?? 'unknown'
}

const kinds: readonly (readonly [RegExp, LoadErrorType])[] = [
  [/permission denied|EACCES|EPERM/i, 'permission_denied'],
  [/corrupt manifest|manifest.{0,200}(JSON|parse error)/is, 'manifest_parse_error'],
  [/manifest.{0,80}(not found|missing|does not exist)/is, 'manifest_not_found'],
  [/manifest/i, 'manifest_validation'],
  [/\bhooks?\b/i, 'hook_config_error'],
  [/\bMCP\b.{0,200}(timed? ?out)|timed? ?out.{0,80}\bMCP\b/is, 'mcp_timeout'],
  [/needs.?auth|unauthori[sz]ed|authenticat|\b401\b/i, 'mcp_auth_required'],
  [/\bMCP\b|server.{0,80}connect/is, 'mcp_connection_failed'],
  [/timed? ?out|within \d+ ms/i, 'timeout'],
  [/path not found|ENOENT|no such file|is not a directory/i, 'component_discovery'],
  [/skill/i, 'skill_parse_error'],
  [/\bagents?\b.{0,80}(frontmatter|parse|invalid|load)/is, 'agent_parse_error'],
  [/command.{0,80}(frontmatter|parse|invalid|load)/is, 'command_parse_error'],
]

const manifest = 'Create or repair .claude-plugin/plugin.json; `name` is all it needs.'
const frontmatter = 'Check the YAML between the two lines of dashes at the top of the file.'

export const recoveryHints: Readonly<Record<LoadErrorType, string>> = {
  manifest_not_found: manifest,
  manifest_parse_error: manifest,
  manifest_validation: manifest,
  component_discovery: 'Check that the directory exists and has the structure of a plugin.',
  permission_denied: 'Allow this user to read the files of the plugin.',
  skill_parse_error: frontmatter,
  agent_parse_error: frontmatter,
  command_parse_error: frontmatter,
  hook_config_error: 'Correct hooks/hooks.json: events and their matchers belong under the key `hooks`.',
  mcp_connection_failed: "Run the server's command by hand to see why it ends, or check its address.",
  mcp_auth_required: 'Give the server its credentials, with variables in execution.env.',
  mcp_timeout: 'The server does not answer; raise mcp_servers.connection_timeout_ms if it is only slow.',
  timeout:
    'Look for slow MCP servers or a SessionStart hook that hangs, or raise tuning.timeouts.plugin_load_ms.',
  unknown: 'Start Claude Code with --plugin-dir and --debug, and read its log.',
}

/**
 * Checks that a process loaded the plugins it was started with, and not the one it was started without. Returns null, or the
 * reason why the trial says nothing about the plugin.
 */
export function proveLoad(
  { plugins }: Pick<ProcessSettings, 'plugins'>,
  pluginPath: string,
  loaded: LoadedParts,
): string | null {
  if (loaded.plugin_errors.length > 0) return `a plugin did not load: ${loaded.plugin_errors.join('; ')}`
  const there = new Set(loaded.plugins.map(({ path }) => known(path)))
  const missing = plugins.filter((path) => !there.has(known(path)))
  if (missing.length > 0) return `Claude Code did not load ${missing.join(' and ')}`
  const isWanted = plugins.includes(pluginPath)
  return !isWanted && there.has(known(pluginPath))
    ? `Claude Code loaded ${pluginPath}, though this arm is without it`
    : null
}

/** Paths may be reported as given or resolved; some plugins have none. */
function known(path: string): string {
  return path.startsWith('/') ? realPath(path) : path
}

/** Starts Claude Code with the plugin, checks what it loaded, and ends it. Calls no model. */
export async function checkPluginLoad(context: ExecuteContext): Promise<PluginLoad> {
  const live = await openLiveClaude(context, processSettings(context, 'alone', null))
  try {
    const { loaded, loadMs } = live
    if (loaded !== null) return pluginLoad(context.plugin, loaded, loadMs)
    const { message } = await whyUnstarted(live, context)
    return failedLoad(context.plugin, message, loadMs)
  } finally {
    await live.close()
  }
}

/** Why a process never reported what it loaded: it was too slow, or it ended with a failure. */
export async function whyUnstarted(
  { session, loadMs }: Pick<LiveClaude, 'session' | 'loadMs'>,
  { config }: Pick<ExecuteContext, 'config'>,
): Promise<FailureReport> {
  const limitMs = config.tuning.timeouts.plugin_load_ms
  if (loadMs >= limitMs || session.isAlive?.() !== false)
    return { reason: 'timeout', message: `Claude Code did not report what it loaded within ${limitMs} ms` }
  const { failure } = await session.ask('')
  return failure ?? { reason: 'unavailable', message: 'Claude Code ended before it reported what it loaded' }
}
