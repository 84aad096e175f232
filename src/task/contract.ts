import type { FinalState } from '../store/queue/contract.ts'
import type { VerifierResponse } from '../verifier/contract.ts'
import type { ScoutAReport, ScoutBReport } from './scouts/report-schemas.ts'

/** Words of the task face. Everything a part of it says to another part is here. */

/** Of the Editor. Terminal ones refuse further results. */
export const editorStates = [
  'IDLE',
  'ANALYZING',
  'IMPLEMENTING',
  'VERIFYING',
  'DEBUGGING',
  'REPLANNING',
  'COMPLETED',
  'STUCK',
  'INFRA_ERROR',
  'CANCELLED',
] as const
export type EditorState = (typeof editorStates)[number]

/** What the user asked for, taken apart. Immutable, also under REPLAN. */
export interface ParsedTask {
  readonly objective: string
  readonly mustPreserve: readonly string[]
  readonly nonGoals: readonly string[]
  readonly boundaries: readonly string[]
  /** The objective, one entry per constraint, and what the kind of work implies. */
  readonly successCriteria: readonly string[]
  readonly warnings: readonly string[]
}

export const milestones = {
  queued: 'Task queued',
  started: 'Task started',
  analyzing: 'Analyzing codebase...',
  scout_a: 'Querying Scout A...',
  scout_b: 'Querying Scout B...',
  analyzed: 'Analysis complete',
  implementing: 'Implementing changes...',
  implemented: 'Changes applied',
  verifying: 'Running verification...',
  verified: 'Verification passed',
  failed: 'Verification failed, debugging...',
  replanning: 'Replanning strategy...',
  replanned: 'New strategy defined',
  succeeded: 'Task completed successfully',
  stuck: 'Task reached hard stop',
  cancelled: 'Task cancelled',
  infra: 'Infrastructure error',
  proposed: 'Dry-run proposal ready',
  applying: 'Applying dry-run changes...',
} as const
export type Milestone = keyof typeof milestones

/**
 * What happens in a task, in one union: a line of `events.jsonl` of its run, of its feed in the queue, and of `gantry task run --json`.
 * `milestone` and `task_ended` are for everybody, the others are details. The structured log is made of them.
 */
export type TaskEvent = TimedStep
export type TimedStep = TaskStep & { readonly ts: number; readonly task_id: string }

export type TaskStep =
  | {
      readonly kind: 'milestone'
      readonly milestone: Milestone
      readonly text: string
      readonly attempt?: number
      readonly max_attempts?: number
    }
  | {
      readonly kind: 'task_started'
      readonly description: string
      readonly dry_run: boolean
      readonly agent: string
      readonly model: string
      readonly sandbox: string
      readonly run_id: string
      readonly resumed: boolean
    }
  | {
      readonly kind: 'state_transition'
      readonly from: EditorState
      readonly to: EditorState
      readonly reason: string
    }
  | {
      readonly kind: 'scout_query'
      readonly scout: ScoutName
      readonly summary: string
      readonly duration_ms: number
      readonly success: boolean
      readonly tries: number
      readonly cost_usd: number | null
      readonly input_tokens: number
      readonly output_tokens: number
      readonly error?: string
    }
  | { readonly kind: 'scout_correction'; readonly scout: ScoutName; readonly what: string }
  | {
      readonly kind: 'conflict'
      readonly question: string
      readonly decision: string
      readonly rationale: string
    }
  | {
      readonly kind: 'edit'
      readonly agent: string
      readonly duration_ms: number
      readonly files: readonly string[]
      readonly cost_usd: number | null
      readonly ending: string
    }
  | { readonly kind: 'agent'; readonly event: Readonly<Record<string, unknown>> }
  | { readonly kind: 'verifier_trigger'; readonly run_id: string; readonly attempt: number }
  | { readonly kind: 'verifier_output'; readonly run_id: string; readonly text: string }
  | {
      readonly kind: 'verifier_result'
      readonly run_id: string | null
      readonly attempt: number
      readonly status: VerifierResponse['status']
      readonly duration_ms: number
      readonly failure: string | null
    }
  | { readonly kind: 'diagnosis'; readonly attempt: number; readonly text: string }
  | { readonly kind: 'replan'; readonly attempt: number; readonly strategy: string }
  | { readonly kind: 'snapshot'; readonly path: string; readonly milestone: SnapshotTrigger }
  | { readonly kind: 'diff'; readonly text: string; readonly files: readonly string[] }
  | { readonly kind: 'note'; readonly level: 'info' | 'warning' | 'error'; readonly message: string }
  | {
      readonly kind: 'task_ended'
      readonly state: FinalState
      readonly reason: string
      readonly duration_ms: number
      readonly run_ids: readonly string[]
      readonly attempts: number
      readonly replans: number
      readonly cost_usd: number | null
      readonly summary: string | null
      readonly report: string | null
    }

/** A run has exactly one snapshot for each of these that happens. */
export type SnapshotTrigger = 'task_start' | 'replan' | 'task_success'

export type ScoutName = 'scout_a' | 'scout_b'

/** A question to both kinds of Scouts. */
export interface ScoutQuery {
  readonly question: string
  /** The end of the combined log of the failure that is asked about. */
  readonly failureLog?: string
  /** Files the answer should look at first, relative to the repository. */
  readonly focus?: readonly string[]
}

/** A report that was checked against the tree. What was wrong in it is repaired or gone, and listed. */
export interface ScoutAnswer<Report> {
  readonly report: Report
  /** The model's JSON exactly as it was received: this is what a context snapshot stores. */
  readonly raw: string
  readonly corrections: readonly string[]
  readonly costUsd: number | null
}

/** Blocking, one at a time unless the Editor asks both. Each has a history of its own. Fails with a `ScoutFailure`. */
export interface Scouts {
  askA(query: ScoutQuery, signal: AbortSignal): Promise<ScoutOutcome<ScoutAReport>>
  askB(query: ScoutQuery, signal: AbortSignal): Promise<ScoutOutcome<ScoutBReport>>
}

export type ScoutOutcome<Report> =
  | { readonly kind: 'answer'; readonly answer: ScoutAnswer<Report> }
  /** After one try and three retries, or at once for an answer that fits no schema: INFRA_ERROR. */
  | { readonly kind: 'failed'; readonly message: string; readonly tries: number }
  | { readonly kind: 'cancelled' }

/** Counters exactly as the debug loop has them. */
export interface LoopCounters {
  readonly consecutiveFailures: number
  readonly totalVerifyLoops: number
  readonly replans: number
}

export type LoopAction = 'SUCCESS' | 'CONTINUE' | 'REPLAN' | 'HARD_STOP' | 'INFRA_STOP'

export const loopLimits = { replanAfter: 3, hardStopAt: 12, scoutRetries: 3 } as const

/** One verification of a task, as reports and prompts tell it. */
export interface AttemptRecord {
  readonly attempt: number
  readonly runId: string | null
  readonly status: VerifierResponse['status']
  /** The line that says most about the failure; null for a success. */
  readonly primaryFailure: string | null
  readonly strategy: string
  /** Id of the tree that was verified, in the shadow repository: a repeated one is refused. */
  readonly tree: string
}

/** How the Editor settled what the Scouts disagree about. */
export interface ScoutDecision {
  readonly question: string
  readonly decision: string
  readonly rationale: string
}

export interface InfrastructureFault {
  readonly source: string
  readonly message: string
  readonly advice: string
}
