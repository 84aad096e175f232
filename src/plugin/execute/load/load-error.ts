import type { LoadErrorType } from '../../analyze/contract.ts'

/** What kind of problem Claude Code tells of, by its words. */
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

/** What a person can do about it. */
export const recoveryHints: Readonly<Record<LoadErrorType, string>> = {
  manifest_not_found: manifest,
  manifest_parse_error: manifest,
  manifest_validation: manifest,
  component_discovery: 'Check that the directory is there and has the structure of a plugin.',
  permission_denied: 'Give this user the permission to read the files of the plugin.',
  skill_parse_error: frontmatter,
  agent_parse_error: frontmatter,
  command_parse_error: frontmatter,
  hook_config_error: 'Correct hooks/hooks.json: events and their matchers stand under the key `hooks`.',
  mcp_connection_failed: "Start the server's command by hand and see why it ends, or check its address.",
  mcp_auth_required: 'Give the server its credentials, by variables in execution.env.',
  mcp_timeout: 'The server does not answer; raise mcp_servers.connection_timeout_ms if it is only slow.',
  timeout:
    'Look for slow MCP servers or a SessionStart hook that hangs, or raise tuning.timeouts.plugin_load_ms.',
  unknown: 'Start Claude Code with --plugin-dir and --debug, and read its log.',
}
