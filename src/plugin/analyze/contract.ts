import type { LoadedParts } from '../../agents/contract.ts'

/**
 * What the analysis (stage 1) finds in a plugin's files: components, preflight, findings and the listing budget. The
 * document is `analysis.json`. `plugin_load_result` is added when the real CLI has loaded the plugin.
 */

/** What every component of a plugin has. `type:name` is its id within one plugin. */
interface ComponentFacts {
  /** As its author named it: `greet`, `deploy/staging`, `PreToolUse::Write|Edit`. */
  readonly name: string
  /** As Claude Code itself reports it: `demo:greet`, `demo:deploy:staging`, `PreToolUse:Write|Edit`, `plugin:demo:weather`. */
  readonly cli_name: string
  readonly plugin: string
  /** Relative to the plugin's root. */
  readonly path: string
  readonly line?: number
  readonly description: string
}

/** Of the text that Claude Code lists: description and `when_to_use`. */
interface TriggerFacts {
  /** Phrases that should make it fire, in the order of the text. */
  readonly triggers: readonly string[]
  /** Phrases for which the text says that it must not fire; absent when there is none. */
  readonly negative_triggers?: readonly string[]
}

export interface SkillComponent extends ComponentFacts, TriggerFacts {
  readonly intents: readonly SkillIntent[]
  readonly allowed_tools: readonly string[]
  /** The model cannot invoke it; only a person can. */
  readonly disable_model_invocation: boolean
  /** false: a person cannot invoke it. */
  readonly user_invocable: boolean
}

export interface SkillIntent {
  readonly action: string
  readonly object: string
  readonly context: string
  readonly raw_phrase: string
}

export interface AgentComponent extends ComponentFacts {
  readonly model: string
  readonly tools: readonly string[]
  /** `<example>` blocks, and what users say according to the rest of the description. */
  readonly examples: readonly AgentExample[]
}

export interface AgentExample {
  readonly context: string
  readonly user_message: string
  readonly expected_response: string
  readonly commentary: string
  /** It shows when the agent must not be used. */
  readonly is_negative?: true
}

export interface CommandComponent extends ComponentFacts, Partial<TriggerFacts> {
  /** Directories below `commands/`, joined by `/`; empty at the top. */
  readonly namespace: string
  /** What a person types: `/demo:deploy:staging`. */
  readonly invocation: string
  readonly argument_hint: string | null
  readonly arguments: readonly string[]
  readonly allowed_tools: readonly string[]
  readonly disable_model_invocation: boolean
}

/** One matcher group of one event: all its handlers fire together. */
export interface HookComponent extends ComponentFacts {
  readonly event: string
  /** null: the group has none, so it matches everything. */
  readonly matcher: string | null
  /** Known tools that the matcher matches; empty for events without tools. `*` alone: all. */
  readonly matching_tools: readonly string[]
  readonly expected_behavior: 'block' | 'allow' | 'modify' | 'log' | 'context' | 'unknown'
  readonly handlers: readonly HookHandler[]
}

export interface HookHandler {
  readonly type: string
  /** What the handler runs: command with arguments, prompt or url. */
  readonly action: string
  readonly timeout_seconds?: number
  /** The handler exactly as it is written. */
  readonly raw: Readonly<Record<string, unknown>>
}

export interface McpServerComponent extends ComponentFacts {
  readonly server_type: 'stdio' | 'http' | 'sse' | 'websocket'
  readonly command?: string
  readonly args?: readonly string[]
  readonly url?: string
  readonly auth_required: boolean
  readonly env_vars: readonly string[]
  /** `mcp__plugin_demo_weather__`, the prefix of all its tools. */
  readonly tool_prefix: string
  /** Known after it was started; empty before. */
  readonly known_tools: readonly string[]
}

export interface Components {
  readonly skills: readonly SkillComponent[]
  readonly agents: readonly AgentComponent[]
  readonly commands: readonly CommandComponent[]
  readonly hooks: readonly HookComponent[]
  readonly mcp_servers: readonly McpServerComponent[]
}

export type PreflightCode =
  | 'PATH_DANGEROUS'
  | 'PATH_NOT_FOUND'
  | 'PATH_RESOLUTION_FAILED'
  | 'MANIFEST_NOT_FOUND'
  | 'MANIFEST_PARSE_ERROR'
  | 'MANIFEST_INVALID'
  | 'PATH_OUTSIDE_CWD'
  | 'SYMLINK_RESOLVED'
  | 'NAME_FORMAT'
  | 'NO_COMPONENTS'

export interface PreflightNotice {
  readonly code: PreflightCode
  readonly message: string
  readonly suggestion: string
}

export interface Preflight {
  readonly valid: boolean
  readonly plugin_path: string
  readonly resolved_path: string | null
  readonly manifest_path: string | null
  readonly plugin_name: string | null
  readonly errors: readonly PreflightNotice[]
  readonly warnings: readonly PreflightNotice[]
}

/** A problem found in the files alone, without a model. */
export interface PluginFinding {
  /** Such as `OVERLAPPING_DESCRIPTIONS`, `LISTING_DROPPED`, `HOOK_INVALID`, `NAME_COLLISION`. All are in the docs. */
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  readonly suggestion: string
  /** Ids (`type:name`) of the components it is about. */
  readonly components: readonly string[]
  /** Relative to the plugin's root. */
  readonly path?: string
  readonly line?: number
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Which descriptions Claude Code would show to its model, and which it would cut or drop. */
export interface ListingBudget {
  /** The window of the model that it was computed for. */
  readonly context_tokens?: number
  readonly budget_characters: number
  readonly used_characters: number
  /** Of those used, the share of Claude Code's own skills. */
  readonly reserved_characters?: number
  readonly entries: readonly {
    readonly component: string
    readonly characters: number
    readonly shown: 'whole' | 'cut' | 'dropped'
  }[]
}

/** `analysis.json`, and what `gantry plugin analyze --json` prints. */
export interface Analysis {
  readonly schema_version: 1
  readonly plugin_name: string
  /** Absolute and resolved. */
  readonly plugin_path: string
  readonly manifest: Readonly<Record<string, unknown>>
  readonly preflight: Preflight
  readonly components: Components
  readonly findings: readonly PluginFinding[]
  readonly listing: ListingBudget
  /** One map per type, by name, as the original tool wrote it. */
  readonly trigger_understanding: Readonly<
    Record<'skills' | 'agents' | 'commands' | 'hooks' | 'mcp_servers', Readonly<Record<string, unknown>>>
  >
  /** Of every file that was read; changes when the plugin does. */
  readonly content_hash: string
  /** What the real CLI loaded; null until it has loaded the plugin. */
  readonly plugin_load_result: PluginLoad | null
}

export type LoadErrorType =
  | 'manifest_not_found'
  | 'manifest_parse_error'
  | 'manifest_validation'
  | 'component_discovery'
  | 'permission_denied'
  | 'skill_parse_error'
  | 'agent_parse_error'
  | 'command_parse_error'
  | 'hook_config_error'
  | 'mcp_connection_failed'
  | 'mcp_auth_required'
  | 'mcp_timeout'
  | 'timeout'
  | 'unknown'

/** What was really loaded, from the CLI's own init event. */
export interface PluginLoad {
  readonly loaded: boolean
  readonly plugin_name: string
  readonly plugin_path: string
  readonly cli_version: string | null
  /** The model of its sessions; absent when it did not report one. */
  readonly model?: string
  readonly registered_tools: readonly string[]
  readonly registered_commands: readonly string[]
  readonly registered_skills: readonly string[]
  readonly registered_agents: readonly string[]
  readonly mcp_servers: LoadedParts['mcp_servers']
  /** Other installed plugins, by name. */
  readonly plugins: readonly string[]
  readonly session_id: string | null
  readonly error?: string
  readonly error_type?: LoadErrorType
  readonly recovery_hint?: string
  readonly warnings: readonly string[]
  readonly duration_ms: number
  readonly load_cost_usd: number
}
