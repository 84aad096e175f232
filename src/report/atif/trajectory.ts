export const atifVersion = 'ATIF-v1.7'

/** The part of the Agent Trajectory Interchange Format 1.7 that Gantry writes. Gantry's own facts belong in `extra`. */
export interface AtifTrajectory {
  readonly schema_version: typeof atifVersion
  readonly session_id?: string
  readonly trajectory_id: string
  readonly agent: {
    readonly name: string
    readonly version: string
    readonly model_name?: string
    readonly extra: Extra
  }
  readonly steps: readonly AtifStep[]
  readonly final_metrics?: {
    readonly total_prompt_tokens?: number
    readonly total_completion_tokens?: number
    readonly total_cached_tokens?: number
    readonly total_cost_usd?: number
    readonly total_steps: number
    readonly extra?: Extra
  }
  readonly extra?: Extra
  readonly subagent_trajectories?: readonly AtifTrajectory[]
}

type Extra = Readonly<Record<string, unknown>>

export interface AtifStep {
  readonly step_id: number
  readonly timestamp?: string
  readonly source: 'system' | 'user' | 'agent'
  readonly message: string
  readonly model_name?: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly AtifToolCall[]
  readonly observation?: { readonly results: readonly AtifResult[] }
  readonly metrics?: AtifMetrics
  readonly extra?: Extra
}

export interface AtifToolCall {
  readonly tool_call_id: string
  readonly function_name: string
  readonly arguments: Extra
  readonly extra?: Extra
}

export interface AtifResult {
  readonly source_call_id?: string
  readonly content?: string
  readonly subagent_trajectory_ref?: readonly { readonly trajectory_id: string }[]
  readonly extra?: Extra
}

export interface AtifMetrics {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly cached_tokens?: number
  readonly cost_usd?: number
  readonly extra?: Extra
}
