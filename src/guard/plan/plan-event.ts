import type { AgentEnding } from '../../core/event.ts'
import type { EvidenceStatus } from '../../core/evidence.ts'

/** A step of a plan run: a line of its `events.jsonl` and of `--json`, with snake_case names. Fields are only added, never removed. */
export type PlanEvent = { readonly ts: number } & PlanStep

export type PlanStep =
  | {
      readonly kind: 'plan_started'
      readonly run_id: string
      readonly run_dir: string
      readonly root: string
      readonly plan: string
      readonly agent: string
      readonly model: string
      readonly resumed: boolean
      readonly tasks: number
      readonly open: number
      readonly commands: readonly string[]
      readonly guard: string
    }
  | {
      readonly kind: 'iteration_started'
      readonly iteration: number
      readonly task: string
      readonly line: number
      readonly attempt: number
      readonly max_attempts: number
    }
  | {
      readonly kind: 'tool_used'
      readonly iteration: number
      readonly tool: string
      readonly command?: string
      readonly path?: string
    }
  | {
      readonly kind: 'agent_ended'
      readonly iteration: number
      readonly ending: AgentEnding
      readonly exit_code: number | null
      /** null: unmetered. */
      readonly cost_usd: number | null
      readonly duration_ms: number
      /** The infrastructure failure that stopped the agent. */
      readonly failure: string | null
    }
  /** Changes of the agent to the plan were reverted. */
  | {
      readonly kind: 'plan_restored'
      readonly iteration: number
      readonly boxes: readonly string[]
      readonly missing: readonly string[]
    }
  | {
      readonly kind: 'verified'
      readonly iteration: number
      readonly command: string
      readonly status: EvidenceStatus | 'not_counted'
      readonly exit_code: number
      readonly why: string | null
      readonly duration_ms: number
    }
  | {
      readonly kind: 'task_done'
      readonly iteration: number
      readonly task: string
      readonly ticked_by: 'agent' | 'gantry'
      readonly commit: string | null
    }
  | {
      readonly kind: 'attempt_failed'
      readonly iteration: number
      readonly task: string
      readonly attempt: number
      readonly max_attempts: number
      readonly reason: string
    }
  /** The iteration was lost and does not count as an attempt. */
  | { readonly kind: 'iteration_lost'; readonly iteration: number; readonly reason: string }
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly message: string }
  | {
      readonly kind: 'plan_ended'
      readonly state: PlanState
      readonly reason: string
      readonly exit_code: number
      /** null when no run directory was made. */
      readonly run_id: string | null
      readonly run_dir: string | null
      readonly tasks: number
      readonly done: number
      readonly open: readonly string[]
      readonly iterations: number
      readonly cost_usd: number | null
      readonly unmetered: number
      readonly duration_ms: number
    }

/** `failed`: a task was given up. `inconclusive`: a limit was reached with tasks open. */
export type PlanState = 'done' | 'failed' | 'inconclusive' | 'infra' | 'interrupted'
