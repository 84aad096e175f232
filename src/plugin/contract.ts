import type { AgentEnding, AgentFailure } from '../core/event.ts'
import type { GateResult, ModelUsage, TokenUsage } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'

/**
 * The words of plugin evaluation. What is written to a run directory (`analysis.json`, `scenarios.json`, transcripts,
 * `evaluation.json`) is a public format: snake_case, fields are only ever added.
 */
export const componentTypes = ['skill', 'agent', 'command', 'hook', 'mcp_server'] as const
export type ComponentType = (typeof componentTypes)[number]

/** What every component of a plugin has. `type:name` is its id within one plugin. */
interface ComponentFacts {
  /** As its author named it: `greet`, `deploy/staging`, `PreToolUse::Write|Edit`. */
  readonly name: string
  /** As Claude Code itself reports it: `demo:greet`, `demo:deploy:staging`, `PreToolUse:Write|Edit`, `plugin:demo:weather`. */
  readonly cli_name: string
  /** The plugin it belongs to. */
  readonly plugin: string
  /** Relative to the plugin's root. */
  readonly path: string
  readonly line?: number
  readonly description: string
}

export interface SkillComponent extends ComponentFacts {
  /** Phrases that should make it fire, in the order of the text. */
  readonly triggers: readonly string[]
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
  readonly examples: readonly AgentExample[]
}

export interface AgentExample {
  readonly context: string
  readonly user_message: string
  readonly expected_response: string
  readonly commentary: string
}

export interface CommandComponent extends ComponentFacts {
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
  /** null = the group has none, which means everything. */
  readonly matcher: string | null
  /** Known tools the matcher fits; empty for events that have no tool. `*` alone = all. */
  readonly matching_tools: readonly string[]
  readonly expected_behavior: 'block' | 'allow' | 'modify' | 'log' | 'context' | 'unknown'
  readonly handlers: readonly HookHandler[]
}

export interface HookHandler {
  readonly type: string
  /** The words of the handler: command with its arguments, prompt, url. */
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
  /** `mcp__plugin_demo_weather__`: every tool of it begins so. */
  readonly tool_prefix: string
  /** Learnt when it was really started; empty before. */
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

/** Something the files alone tell, without any model. */
export interface Finding {
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
  readonly budget_characters: number
  readonly used_characters: number
  /** Of those used, what Claude Code takes for its own skills. */
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
  readonly findings: readonly Finding[]
  readonly listing: ListingBudget
  /** One map per type, by name, as the original tool wrote it. */
  readonly trigger_understanding: Readonly<
    Record<'skills' | 'agents' | 'commands' | 'hooks' | 'mcp_servers', Readonly<Record<string, unknown>>>
  >
  /** Of every file that was read; changes when the plugin does. */
  readonly content_hash: string
  /** What the real CLI loaded; null until it was asked. */
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

/** The proof that the plugin was really loaded, from the CLI's own init event. */
export interface PluginLoad {
  readonly loaded: boolean
  readonly plugin_name: string
  readonly plugin_path: string
  readonly cli_version: string | null
  readonly registered_tools: readonly string[]
  readonly registered_commands: readonly string[]
  readonly registered_skills: readonly string[]
  readonly registered_agents: readonly string[]
  readonly mcp_servers: readonly {
    readonly name: string
    readonly status: string
    readonly tools?: readonly string[]
    readonly error?: string
  }[]
  /** Other plugins that are there, by name. */
  readonly plugins: readonly string[]
  readonly session_id: string | null
  readonly error?: string
  readonly error_type?: LoadErrorType
  readonly recovery_hint?: string
  readonly warnings: readonly string[]
  readonly duration_ms: number
  readonly load_cost_usd: number
}

export const scenarioTypes = [
  'direct',
  'paraphrased',
  'edge_case',
  'negative',
  'proactive',
  'semantic',
] as const
export type ScenarioType = (typeof scenarioTypes)[number]

export type SemanticVariation = 'synonym' | 'related_concept' | 'structure' | 'informal'

/** One thing that is asked of the agent, and what should come of it. A line of `scenarios.json`. */
export interface Scenario {
  /** Letters, digits, `.`, `_`, `-`; unique in a run. */
  readonly id: string
  /** `name` of the component; empty when only graders decide. */
  readonly component_ref: string
  readonly component_type: ComponentType
  readonly expected_component: string
  readonly scenario_type: ScenarioType
  readonly user_prompt: string
  readonly expected_trigger: boolean
  readonly setup_messages?: readonly SetupMessage[]
  readonly original_trigger_phrase?: string
  readonly semantic_variation_type?: SemanticVariation
  readonly expected_file_references?: readonly string[]
  readonly reasoning?: string
  /** Where it came from. */
  readonly origin: 'model' | 'template' | 'fallback' | 'file' | 'case'
  readonly tags?: readonly string[]
  /** Files the workspace begins with. */
  readonly files?: Readonly<Record<string, string>>
  /** Tools this scenario cannot do without, although they are disallowed by default. */
  readonly needs_tools?: readonly string[]
  /** Of a case in the format of `claude plugin eval`. */
  readonly case?: CaseFacts
}

export interface SetupMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** What a case of `claude plugin eval` says beyond prompt and expectation. */
export interface CaseFacts {
  readonly dir: string
  readonly graders: readonly Grader[]
  readonly runs?: number
  readonly model?: string
  readonly max_turns?: number
  readonly timeout_ms?: number
  readonly allowed_tools?: readonly string[]
  readonly disallowed_tools?: readonly string[]
  readonly append_system_prompt?: string
  readonly env?: Readonly<Record<string, string>>
  readonly plugins?: readonly string[]
  /** Absolute. */
  readonly scaffold_script?: string
  readonly history_file?: string
  readonly add_dirs?: readonly string[]
}

export type GraderTarget =
  | 'last_message'
  | 'trace'
  | 'files'
  | 'mock_calls'
  | { readonly source: 'file'; readonly path: string }

export interface ToolPattern {
  readonly tool: string
  readonly input_match?: string | Readonly<Record<string, unknown>>
}

interface GraderFacts {
  readonly name: string
  readonly weight: number
  readonly arm: 'default' | 'with-only' | 'both'
}

export type Grader = GraderFacts &
  (
    | {
        readonly type: 'regex'
        readonly pattern: string
        readonly flags: string
        readonly match: 'contains' | 'not_contains' | { readonly count: number }
        readonly target: GraderTarget
      }
    | {
        readonly type: 'tool_used'
        readonly use: ToolPattern
        readonly min: number
        readonly max: number | null
      }
    | { readonly type: 'tool_order'; readonly before: ToolPattern; readonly after: ToolPattern }
    | { readonly type: 'file_exists'; readonly path: string; readonly exists: boolean }
    | { readonly type: 'llm'; readonly criteria: string; readonly focus: GraderTarget }
    | { readonly type: 'baseline'; readonly baseline_file: string; readonly criteria: string }
  )

/** In which company the plugin is tried. */
export const arms = ['without', 'alone', 'crowd'] as const
export type Arm = (typeof arms)[number]

/** One attempt at one scenario in one arm. */
export interface PluginTrial {
  /** A file name of its own. */
  readonly id: string
  readonly scenario_id: string
  readonly arm: Arm
  /** From 1. */
  readonly rep: number
}

/** A call of a tool as the hooks of the session saw it: exact input, and how it ended. */
export interface ToolCapture {
  readonly name: string
  readonly input: unknown
  readonly tool_use_id: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly result?: unknown
  /** Absent = unknown. */
  readonly success?: boolean
  readonly error?: string
  readonly is_interrupt?: boolean
  /** Inside which subagent; absent on the main thread. */
  readonly agent_id?: string
  readonly agent_type?: string
}

export interface SubagentCapture {
  readonly agent_id: string
  readonly agent_type: string
  readonly start_timestamp: number
  readonly stop_timestamp?: number
  readonly transcript_path?: string
  readonly stop_hook_active?: boolean
}

/** The CLI expanded what was typed into the text of a command or skill. */
export interface ExpansionCapture {
  readonly command_name: string
  readonly command_args: string
  readonly command_source?: string
  readonly timestamp: number
}

export interface HookResponse {
  /** `PreToolUse:Write`, as the CLI reports it. */
  readonly hook_name: string
  readonly hook_event: string
  readonly hook_id?: string
  readonly stdout: string
  readonly stderr: string
  readonly exit_code?: number
  readonly outcome: 'success' | 'error' | 'cancelled' | 'unknown'
  readonly timestamp: number
}

export interface SessionTiming {
  readonly starts: readonly { readonly source: string; readonly timestamp: number; readonly model?: string }[]
  readonly end?: { readonly reason: string; readonly timestamp: number }
}

/** `transcripts/<trial>.json`, format v3.0. */
export interface Transcript {
  readonly metadata: {
    readonly version: 'v3.0'
    readonly plugin_name: string
    readonly scenario_id: string
    readonly timestamp: string
    readonly model: string
    readonly total_cost_usd?: number
    readonly api_duration_ms?: number
  }
  readonly events: readonly TranscriptEvent[]
  readonly errors: readonly TranscriptError[]
}

export type TranscriptEvent =
  | {
      readonly id: string
      readonly type: 'user' | 'assistant'
      readonly edit: {
        readonly message: {
          readonly role: 'user' | 'assistant'
          readonly content: string
          readonly tool_calls?: readonly {
            readonly id: string
            readonly name: string
            readonly input: unknown
          }[]
        }
      }
      /** Set when a subagent said it. */
      readonly parent_tool_use_id?: string
    }
  | {
      readonly id: string
      readonly type: 'tool_result'
      readonly tool_use_id: string
      readonly result: string
      readonly is_error?: boolean
      readonly parent_tool_use_id?: string
    }

export interface TranscriptError {
  readonly type: 'error'
  readonly error_type: 'api_error' | 'timeout' | 'interrupted' | 'permission_denied' | 'budget_exceeded'
  readonly message: string
  readonly timestamp: string
  readonly recoverable: boolean
  readonly request_id?: string
}

/** What one trial of stage 3 left behind; kept in the trial's directory as `execution.json`, its transcript beside it. */
export interface Execution {
  readonly trial: PluginTrial
  readonly scenario_id: string
  readonly detected_tools: readonly ToolCapture[]
  readonly subagent_captures: readonly SubagentCapture[]
  readonly expansions: readonly ExpansionCapture[]
  readonly hook_responses: readonly HookResponse[]
  readonly session_timing: SessionTiming
  readonly errors: readonly TranscriptError[]
  readonly permission_denials: readonly string[]
  readonly termination_type: 'clean' | 'timeout' | 'interrupted' | 'error'
  readonly ending: AgentEnding
  readonly final_text: string | null
  readonly num_turns: number
  readonly api_duration_ms: number
  readonly duration_ms: number
  /** null = unmetered. */
  readonly cost_usd: number | null
  readonly tokens: TokenUsage | null
  readonly model_usage: readonly ModelUsage[]
  /** Changed by the agent in its workspace, with what became of them. */
  readonly workspace_changes: readonly {
    readonly path: string
    readonly kind: 'created' | 'modified' | 'deleted'
  }[]
  /** Files of the workspace that graders of the case look into, by the path they name; absent when none does. */
  readonly kept_files?: Readonly<Record<string, KeptFile>>
  readonly session_strategy: SessionStrategy
  /** Set when the machinery broke: the trial is `infra`. */
  readonly failure?: { readonly reason: AgentFailure; readonly message: string }
  /** Set when the case is broken, or a strict replay no longer fits: the trial is `invalid`. */
  readonly invalid?: string
  /** `invalid` because the cassette does not fit: it needs re-recording. */
  readonly needs_recording?: boolean
  readonly infra_retries: number
  readonly warnings: readonly string[]
}

/** What stood at a path of the workspace when the agent had finished. */
export type KeptFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** It is there and cannot be looked into. */
  | { readonly kind: 'refused'; readonly reason: string }

export type SessionStrategy = 'isolated' | 'batched_by_component'

/** How we know that a component fired. */
export type DetectionSource =
  | 'tool_capture'
  | 'expansion'
  | 'subagent_capture'
  | 'hook_response'
  | 'transcript'
  | 'llm'

/** A component that fired in a trial: of the plugin under test, of another plugin, or the CLI's own. */
export interface Detection {
  readonly component_type: ComponentType
  /** The author's name when it is a component of the plugin under test, else the CLI's. */
  readonly name: string
  readonly cli_name: string
  /** null: not of any plugin we know. */
  readonly plugin: string | null
  readonly confidence: number
  readonly source: DetectionSource
  /** Words a person can check. */
  readonly evidence: string
  readonly tool_use_id?: string
  /** In the order in which they happened. */
  readonly timestamp: number
}

export const confidences = {
  tool_capture: 1,
  expansion: 1,
  subagent_capture: 1,
  hook_response: 1,
  transcript: 0.8,
  llm: 0.6,
} as const satisfies Readonly<Record<DetectionSource, number>>

export type ConflictSeverity = 'none' | 'low' | 'medium' | 'high'

export interface Conflict {
  readonly expected_component: string
  readonly expected_component_type: ComponentType
  readonly all_triggered_components: readonly {
    readonly component_type: ComponentType
    readonly name: string
    readonly plugin: string | null
    readonly confidence: number
  }[]
  readonly has_conflict: boolean
  readonly conflict_severity: ConflictSeverity
  readonly conflict_reason?: string
}

/** One judge's answer, or that there was none. */
export type JudgeVote =
  | {
      readonly kind: 'scored'
      readonly quality_score: number
      readonly response_relevance: number
      readonly trigger_accuracy: 'correct' | 'incorrect' | 'partial'
      /** Whether the expected component fired, in the judge's eyes. */
      readonly triggered: boolean
      readonly issues: readonly string[]
      readonly highlights: readonly JudgeCitation[]
      readonly summary: string
    }
  | { readonly kind: 'error'; readonly message: string }

/** A place in the transcript; one whose words do not stand there is dropped and counted. */
export interface JudgeCitation {
  readonly description: string
  readonly message_id: string
  readonly quoted_text: string
  readonly position_start?: number
  readonly position_end?: number
}

export interface PluginJudgement {
  readonly model: string
  readonly quality_score: number | null
  readonly response_relevance: number | null
  readonly trigger_accuracy: 'correct' | 'incorrect' | 'partial' | null
  /** The majority's. */
  readonly triggered: boolean | null
  readonly score_variance: number
  readonly is_unanimous: boolean
  readonly confidence_level: 'high' | 'medium' | 'low'
  readonly issues: readonly string[]
  readonly highlights: readonly JudgeCitation[]
  /** Citations whose words are not in the transcript. */
  readonly dropped_citations: number
  readonly summary: string
  readonly votes: readonly JudgeVote[]
  readonly cost_usd: number | null
  readonly batched: boolean
}

/** What stage 4 says about one trial; kept as `evaluation.json` in the trial's directory. */
export interface TrialEvaluation {
  readonly trial: PluginTrial
  readonly scenario_id: string
  readonly component_type: ComponentType
  readonly expected_component: string
  readonly scenario_type: ScenarioType
  readonly semantic_variation_type?: SemanticVariation
  readonly expected_trigger: boolean
  /** Did the expected component fire? */
  readonly triggered: boolean
  /** Of the detection of the expected component; 1 when it is certain that it did not fire. */
  readonly confidence: number
  readonly detection_source: 'programmatic' | 'llm' | 'both'
  readonly detections: readonly Detection[]
  readonly conflict: Conflict
  readonly quality_score: number | null
  readonly judgement: PluginJudgement | null
  /** The trigger itself and every grader of a case. */
  readonly gates: readonly GateResult[]
  /** Weighted share of graders passed; null without graders. */
  readonly grader_score: number | null
  readonly verdict: Verdict
  readonly reason: string
  readonly evidence: readonly string[]
  readonly issues: readonly string[]
  readonly summary: string
  readonly cost_usd: number | null
  readonly evaluation_cost_usd: number | null
  readonly duration_ms: number
  readonly tokens: TokenUsage | null
}

/** What a watcher is told while an evaluation goes on; JSONL with `--progress jsonl`. */
export type PluginStep =
  | { readonly kind: 'stage_start'; readonly stage: Stage; readonly total: number }
  | {
      readonly kind: 'stage_complete'
      readonly stage: Stage
      readonly duration_ms: number
      readonly count: number
    }
  | {
      readonly kind: 'scenario_start'
      readonly trial: string
      readonly scenario: string
      readonly arm: Arm
      readonly rep: number
    }
  | {
      readonly kind: 'scenario_complete'
      readonly trial: string
      readonly scenario: string
      readonly arm: Arm
      readonly rep: number
      readonly outcome: 'done' | 'infra' | 'invalid'
      readonly cost_usd: number | null
      readonly duration_ms: number
      readonly message?: string
    }
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }

export const stages = ['analysis', 'generation', 'execution', 'evaluation'] as const
export type Stage = (typeof stages)[number]
