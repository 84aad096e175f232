import type { FinalState } from '../store/queue/contract.ts'
import type { VerifierResponse } from '../verifier/contract.ts'
import type { ScoutAReport, ScoutBReport } from './scouts/report-schemas.ts'

/** Types that the parts of the task face share. */

/** States of the Editor. Terminal states refuse further results. */
export const editorStates = [
  'IDLE',
  'ANALYZING',
  'IMPLEMENTING',
  'VERIFYING',
  'DEBUGGING',
  'REPLANNING',
  'COMPLETED',
  'WEAKENED',
  'NO_CHANGE',
  'STUCK',
  'INFRA_ERROR',
  'CANCELLED',
] as const
export type EditorState = (typeof editorStates)[number]

/** The parsed task text. It never changes, not even in a REPLAN. */
export interface ParsedTask {
  readonly objective: string
  readonly mustPreserve: readonly string[]
  readonly nonGoals: readonly string[]
  readonly boundaries: readonly string[]
  /** The objective, one entry per constraint, and the criteria implied by the kind of work. */
  readonly successCriteria: readonly string[]
  readonly warnings: readonly string[]
}

export const milestones = {
  queued: 'Task queued',
  started: 'Task started',
  baseline: 'Running the steps on the untouched tree...',
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
  weakened: 'Verification passed, but the checks are weaker than before',
  unchanged: 'The tree was not changed',
  stuck: 'Task reached hard stop',
  cancelled: 'Task cancelled',
  infra: 'Infrastructure error',
  proposed: 'Dry-run proposal ready',
  applying: 'Applying dry-run changes...',
} as const
export type Milestone = keyof typeof milestones

/**
 * All events of a task: the lines of its run's `events.jsonl`, of its feed in the queue, and of `gantry task run --json`.
 * `milestone` and `task_ended` are for every reader, the others are details. The structured log is derived from them.
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
      /** The steps on the untouched tree, before any model was asked. */
      readonly kind: 'baseline'
      /** null when no run was needed: the result of the same tree is reused. */
      readonly run_id: string | null
      readonly status: VerifierResponse['status']
      /** Tests that ran, by the summaries of the runners; null when there are none. */
      readonly tests: number | null
      /** Names of the tests that failed. */
      readonly failures: readonly string[]
      readonly reused: boolean
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
      /** The beginning of the answer. */
      readonly answer?: string
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
      /** Of a WEAKENED task: what is weaker than before, and where. */
      readonly weakened?: readonly Weakening[]
    }
  /** A person accepted a WEAKENED task. */
  | { readonly kind: 'accepted'; readonly by: string }
  /** A message of the user to the Editor, `gantry task tell`. */
  | { readonly kind: 'told'; readonly text: string }
  /** A question of the Editor. The task waits so long for a message of the user. */
  | { readonly kind: 'question'; readonly text: string; readonly timeout_ms: number }
  /** What the user did with the change of a task that worked in its own tree. */
  | {
      readonly kind: 'change'
      readonly what: 'applied' | 'undone' | 'committed' | 'dropped'
      readonly branch?: string
      /** Of what was committed. */
      readonly commit?: string
    }

/** Why a green verification proves less than the one on the untouched tree would have. */
export interface Weakening {
  /** A sentence without a full stop. */
  readonly what: string
  /** A path in the repository, or the command of a step. */
  readonly where: string
}

/** A run has exactly one snapshot for each of these events. */
export type SnapshotTrigger = 'task_start' | 'replan' | 'task_success'

export type ScoutName = 'scout_a' | 'scout_b'

/** A question to a Scout. */
export interface ScoutQuery {
  readonly question: string
  /** The end of the combined log of the failure in question. */
  readonly failureLog?: string
  /** Files the answer should look at first, relative to the repository. */
  readonly focus?: readonly string[]
}

/** A report checked against the tree. Wrong statements are repaired or dropped, and listed. */
export interface ScoutAnswer<Report> {
  readonly report: Report
  /** The model's JSON exactly as received. Context snapshots store this. */
  readonly raw: string
  readonly corrections: readonly string[]
  readonly costUsd: number | null
}

/** One at a time unless the Editor asks both. Each Scout has its own history. Fails with a `ScoutFailure`. */
export interface Scouts {
  askA(query: ScoutQuery, signal: AbortSignal): Promise<ScoutOutcome<ScoutAReport>>
  askB(query: ScoutQuery, signal: AbortSignal): Promise<ScoutOutcome<ScoutBReport>>
}

export type ScoutOutcome<Report> =
  | { readonly kind: 'answer'; readonly answer: ScoutAnswer<Report> }
  /** INFRA_ERROR: after one try and three retries, or at once for an answer that does not fit the schema. */
  | { readonly kind: 'failed'; readonly message: string; readonly tries: number }
  | { readonly kind: 'cancelled' }

/** The counters of the debug loop. */
export interface LoopCounters {
  readonly consecutiveFailures: number
  readonly totalVerifyLoops: number
  readonly replans: number
}

export type LoopAction = 'SUCCESS' | 'CONTINUE' | 'REPLAN' | 'HARD_STOP' | 'INFRA_STOP'

export const loopLimits = { replanAfter: 3, hardStopAt: 12, scoutRetries: 3 } as const

/** One verification of a task, as reports and prompts show it. */
export interface AttemptRecord {
  readonly attempt: number
  readonly runId: string | null
  readonly status: VerifierResponse['status']
  /** The log line that best explains the failure; null for a success. */
  readonly primaryFailure: string | null
  readonly strategy: string
  /** Id of the verified tree in the shadow repository. A tree that failed before is refused. */
  readonly tree: string
}

/** How a conflict between the Scouts was settled. */
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
