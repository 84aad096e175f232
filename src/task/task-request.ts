import type { AgentOutcome } from '../agents/contract.ts'
import type { Redaction } from '../core/redaction.ts'
import type { Budget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import type { FinalState, TaskChange } from '../store/queue/contract.ts'
import type { VerificationStep, VerifierResponse } from '../verifier/contract.ts'
import type { Scouts, TaskEvent, TaskStep, Weakening } from './contract.ts'
import type { Proposal } from './dry-run/proposal.ts'

export interface TaskRequest {
  /** Id of the task in the queue. */
  readonly taskId: string
  /** Absolute, real path. */
  readonly repository: string
  readonly description: string
  readonly dryRun: boolean
  /** Works in the user's tree instead of one of its own. */
  readonly here: boolean
  /** Its own tree has the user's uncommitted changes too. */
  readonly withChanges?: boolean
  /** When the task first began, ISO 8601. Default: now. */
  readonly startedAt?: string
  /** An earlier process stopped before the task ended. */
  readonly resumed: boolean
  /** The run directory of that process; null when there is none. */
  readonly taskRunId: string | null
  readonly agent: string
  readonly model: string
  /** Name for reports: `docker`, `bubblewrap`, … */
  readonly sandbox: string
  /** Path of the package the task is confined to, relative to the repository. */
  readonly package: string | null
  readonly steps: readonly Pick<VerificationStep, 'name' | 'command'>[]
  /** For Scouts, strategies and Editor together. */
  readonly maxCostUsd?: number
  /** How long a question of the Editor waits for an answer. Without it, the Editor is not offered to ask. */
  readonly answerTimeoutMs?: number
  /** Applied in place of the Editor's first turn. */
  readonly proposal?: Proposal
  /** Continues from the stuck report. */
  readonly retry?: boolean
  /** Run directory of the task that is retried: the tree may still have its changes, so it is held to the same tests. */
  readonly retryOf?: string
}

export interface TaskContext {
  readonly store: Store
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command line, for the manifest. */
  readonly argv: readonly string[]
  readonly redaction: Redaction
  /** Aborted to cancel. With the reason `shutdown` the task has no end and can be resumed. */
  readonly signal: AbortSignal
  readonly onEvent: (event: TaskEvent) => void
  readonly onChange: (change: TaskChange) => void
  /** All messages of the user to this task so far. */
  readonly messages?: () => readonly string[]
  /** Opens the tools of the task. They are disposed when the task ends. */
  readonly open: (site: TaskSite) => Promise<TaskTools>
  readonly now?: () => Date
}

/** Where the work is done. */
export interface TaskSite {
  readonly run: LiveRun
  /** The tree that Scouts read and the Editor changes: one of the task's own, or that of the user. */
  readonly root: string
  /** Every paid call reserves from it. */
  readonly budget: Budget
  readonly emit: (step: TaskStep) => void
  readonly signal: AbortSignal
  /** Directories of the Editor, created by the task. */
  readonly home: string
  readonly scratch: string
}

export interface TaskTools extends AsyncDisposable {
  readonly scouts: Scouts
  /** For new strategies. */
  readonly model: Model
  /** A fresh agent that knows only the prompt. */
  readonly edit: (turn: EditorTurn) => Promise<AgentOutcome>
  readonly verify: VerifyAttempt
  /** The layers that setup has made for the current tree, the newest first. */
  readonly installed?: () => Promise<readonly string[]>
}

export interface EditorTurn {
  readonly prompt: string
  /** Number within the task, from 1. */
  readonly number: number
  /** What is left of the budget. */
  readonly maxCostUsd?: number
  readonly signal: AbortSignal
}

/** Runs the whole pipeline once; as attempt 0 on the untouched tree. The result of a cancelled run is ignored. */
export type VerifyAttempt = (
  attempt: number,
  signal: AbortSignal,
  watch: VerifyWatch,
  more?: MoreOfRun,
) => Promise<VerifierResponse>

/** A run that is compared with an attempt. */
export interface MoreOfRun {
  /** How it differs: "with the tests from before the change". */
  readonly what: string
  /** Variables beside those of the steps. */
  readonly env: Readonly<Record<string, string>>
  /** Lines of the shell before each step. */
  readonly before?: string
}

export interface VerifyWatch {
  /** The run directory was created. */
  started(runId: string): void
  output(text: string): void
}

export interface TaskEnd {
  readonly state: FinalState
  readonly reason: string
  /** Run directory of the task. */
  readonly runId: string
  /** Run ids of verifications, in order. */
  readonly runIds: readonly string[]
  readonly attempts: number
  readonly replans: number
  readonly costUsd: number | null
  readonly durationMs: number
  /** What is weaker than before; empty unless the state is WEAKENED. */
  readonly weakened: readonly Weakening[]
  /** Markdown of the summary of a task that passed. */
  readonly summary: string | null
  /** Path of the stuck report. */
  readonly report: string | null
  /** Result of a successful dry run. */
  readonly proposal: Proposal | null
}

/** Reason of an abort that is not a cancellation: the worker stops, and the task can be resumed. */
export const shutdown = 'shutdown'
