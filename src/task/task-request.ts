import type { AgentOutcome } from '../agents/contract.ts'
import type { Redaction } from '../core/redaction.ts'
import type { Budget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import type { FinalState, TaskChange } from '../store/queue/contract.ts'
import type { VerificationStep, VerifierResponse } from '../verifier/contract.ts'
import type { Scouts, TaskEvent, TaskStep } from './contract.ts'
import type { Proposal } from './dry-run/proposal.ts'

export interface TaskRequest {
  /** Of the queue's record. */
  readonly taskId: string
  /** Absolute, real path. */
  readonly repository: string
  readonly description: string
  readonly dryRun: boolean
  /** When it was first begun, ISO 8601; now, when nobody says. */
  readonly startedAt?: string
  /** An earlier process died on it. */
  readonly resumed: boolean
  /** The run directory that process made; null when there is none. */
  readonly taskRunId: string | null
  readonly agent: string
  readonly model: string
  /** In words, for reports: `docker`, `bubblewrap`, … */
  readonly sandbox: string
  /** Path of the package the task is confined to, relative to the repository. */
  readonly package: string | null
  readonly steps: readonly Pick<VerificationStep, 'name' | 'command'>[]
  /** Over Scouts, strategies and Editor together. */
  readonly maxCostUsd?: number
  /** Applied in place of the Editor's first turn. */
  readonly proposal?: Proposal
  /** Goes on from the stuck report, whatever task it was about. */
  readonly retry?: boolean
}

export interface TaskContext {
  readonly store: Store
  /** Of the caller. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command line, for the manifest. */
  readonly argv: readonly string[]
  readonly redaction: Redaction
  /** Aborted to cancel. With the reason `shutdown` the task is left as it is, to be taken up again. */
  readonly signal: AbortSignal
  readonly onEvent: (event: TaskEvent) => void
  readonly onChange: (change: TaskChange) => void
  /** Opens what the task works with; let go when the task ends. */
  readonly open: (site: TaskSite) => Promise<TaskTools>
  readonly now?: () => Date
}

/** Where the work is done. */
export interface TaskSite {
  readonly run: LiveRun
  /** What Scouts read and the Editor changes: the repository, or the copy of a dry run. */
  readonly root: string
  /** Every paid call reserves from it. */
  readonly budget: Budget
  readonly emit: (step: TaskStep) => void
  readonly signal: AbortSignal
  /** Directories of the Editor; made by the task. */
  readonly home: string
  readonly scratch: string
}

export interface TaskTools extends AsyncDisposable {
  readonly scouts: Scouts
  /** For new strategies. */
  readonly model: Model
  /** One fresh agent with nothing in its head but the prompt. */
  readonly edit: (turn: EditorTurn) => Promise<AgentOutcome>
  readonly verify: VerifyAttempt
}

export interface EditorTurn {
  readonly prompt: string
  /** Of the task, from 1. */
  readonly number: number
  /** What is left of the budget. */
  readonly maxCostUsd?: number
  readonly signal: AbortSignal
}

/** The whole pipeline, once. A cancelled one may come to anything: it is not looked at. */
export type VerifyAttempt = (
  attempt: number,
  signal: AbortSignal,
  watch: VerifyWatch,
) => Promise<VerifierResponse>

export interface VerifyWatch {
  /** The run directory is made. */
  started(runId: string): void
  output(text: string): void
}

export interface TaskEnd {
  readonly state: FinalState
  readonly reason: string
  /** Run directory of the task. */
  readonly runId: string
  /** Of verifications, in order. */
  readonly runIds: readonly string[]
  readonly attempts: number
  readonly replans: number
  readonly costUsd: number | null
  readonly durationMs: number
  /** Markdown of the success summary. */
  readonly summary: string | null
  /** Path of the stuck report in the repository. */
  readonly report: string | null
  /** Of a dry run that went well. */
  readonly proposal: Proposal | null
}

/** Reason of an abort that is not a cancellation: the worker stops, and the task can be resumed. */
export const shutdown = 'shutdown'
