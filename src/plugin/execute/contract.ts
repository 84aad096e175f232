import type { AgentEnding, AgentFailure } from '../../core/event.ts'
import type { ModelUsage, TokenUsage } from '../../core/trial.ts'
import type { Arm } from '../contract.ts'

/** What the execution (stage 3) stores for each trial: `execution.json` and its transcript. */

export interface PluginTrial {
  /** A unique file name. */
  readonly id: string
  readonly scenario_id: string
  readonly arm: Arm
  /** From 1. */
  readonly rep: number
}

/** A tool call as seen by the hooks of the session: exact input, and how it ended. */
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

/** The CLI expanded a typed command or skill. */
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
export interface PluginTranscript {
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

/** The result of one trial of stage 3, stored as `execution.json` in the trial's directory next to its transcript. */
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
  /** Files the agent changed in its workspace, with the kind of change. */
  readonly workspace_changes: readonly {
    readonly path: string
    readonly kind: 'created' | 'modified' | 'deleted'
  }[]
  /** Workspace files that graders of the case read, by path; absent when there are none. */
  readonly kept_files?: Readonly<Record<string, KeptFile>>
  readonly session_strategy: SessionStrategy
  /** Set when infrastructure failed: the trial is `infra`. */
  readonly failure?: { readonly reason: AgentFailure; readonly message: string }
  /** Set when the case is broken, or a strict replay no longer matches: the trial is `invalid`. */
  readonly invalid?: string
  /** `invalid` because the cassette does not match: it needs re-recording. */
  readonly needs_recording?: boolean
  readonly infra_retries: number
  /** Of `cost_usd`, what earlier attempts cost that failed; absent when there was none. */
  readonly earlier_cost_usd?: number
  readonly warnings: readonly string[]
}

/** The state of a workspace path when the agent had finished. */
export type KeptFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** It exists but cannot be read. */
  | { readonly kind: 'refused'; readonly reason: string }

export type SessionStrategy = 'isolated' | 'batched_by_component'
