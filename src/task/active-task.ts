import type { Evidence } from '../core/evidence.ts'
import type { TestInventory } from '../guard-engine/contract.ts'
import type { LiveRun } from '../store/contract.ts'
import type { FailedStep, VerifierResponse } from '../verifier/contract.ts'
import type {
  AttemptRecord,
  LoopCounters,
  ParsedTask,
  ScoutAnswer,
  ScoutDecision,
  TaskStep,
  Weakening,
} from './contract.ts'
import type { Conventions } from './editor/sample-conventions.ts'
import type { EditorWriteLimits } from './editor/write-limits.ts'
import type { Feed, Journal } from './journal.ts'
import type { TaskTree } from './open-tree.ts'
import type { StuckContext } from './reports/stuck-report.ts'
import type { ScoutAReport, ScoutBReport } from './scouts/report-schemas.ts'
import type { TaskSpending } from './spending.ts'
import type { EditorStates } from './states.ts'
import { TaskHalt } from './task-halt.ts'
import { shutdown, type TaskContext, type TaskRequest, type TaskTools } from './task-request.ts'

/** A task with a run directory: enough to report how it ends. */
export interface TaskBase {
  readonly request: TaskRequest
  readonly context: TaskContext
  readonly task: ParsedTask
  readonly run: LiveRun
  readonly journal: Journal
  readonly emit: (step: TaskStep) => void
  readonly spending: TaskSpending
  readonly now: () => Date
}

/** A task whose tree is open, and everything known so far. */
export interface OpenedTask extends TaskBase {
  /** Receives the events of the tools. */
  readonly feed: Feed
  readonly states: EditorStates
  readonly tree: TaskTree
  /** The commit that the task's own tree started from; null without one. */
  readonly commit: string | null
  readonly writeLimits: EditorWriteLimits
  readonly signal: AbortSignal
  /** The tree and its tests when the task began. */
  readonly baseline: Baseline
  /** What an earlier attempt at this task left. */
  readonly stuck: StuckContext | null
  readonly known: Knowledge
}

/** A running task: what every step needs. */
export interface ActiveTask extends OpenedTask {
  readonly tools: TaskTools
}

export interface Baseline {
  readonly tree: string
  readonly tests: TestInventory
}

/** Grows while the task runs. A resumed task rebuilds the same state from its journal. */
export interface Knowledge {
  scoutA: ScoutAnswer<ScoutAReport> | null
  scoutB: ScoutAnswer<ScoutBReport> | null
  conventions: Conventions | null
  readonly decisions: ScoutDecision[]
  readonly corrections: string[]
  /** The last one is the current one. */
  readonly strategies: string[]
  readonly attempts: AttemptRecord[]
  counters: LoopCounters
  /** The steps on the untouched tree; null until they ran. */
  untouched: KeptVerification | null
  verification: KeptVerification | null
  diagnosis: ScoutBReport['failure_analysis'] | null
  /** The Editor's description of its last change. */
  account: string
  /** How many messages of the user its last prompt had. */
  heard: number
  /** How the tests became weaker since the task began. */
  weaker: readonly string[]
  /** Layers that setup has made, the newest first, as far as the tree has a copy. */
  installed: readonly string[]
  /** Changes of ignored files that could not be undone. */
  readonly unsound: Weakening[]
  /** Warnings for the summary of a task that passed. */
  readonly notes: string[]
  /** Numbers of the next Editor turn and of the next questions. */
  readonly next: { edit: number; scout_a: number; scout_b: number }
}

/** The result of a verification in the journal. It counts as soon as it is written there. */
export interface KeptVerification {
  readonly status: VerifierResponse['status']
  readonly runId: string | null
  readonly log: string
  /** The verified state of the tree. */
  readonly tree: string
  readonly durationMs: number
  readonly failure: string | null
  readonly steps: readonly { readonly name: string; readonly command: string; readonly duration_ms: number }[]
  readonly failedStep: FailedStep | null
  readonly evidence: readonly Evidence[]
  /** Files of the repository that the steps have changed in their workspace. */
  readonly rewritten?: readonly string[]
  readonly error: { readonly type: string; readonly message: string } | null
}

/** Throws a halt when the task was cancelled or its worker was stopped. */
export function throwIfStopped({ signal }: Pick<ActiveTask, 'signal'>): void {
  if (!signal.aborted) return
  throw new TaskHalt({ kind: signal.reason === shutdown ? 'left' : 'cancelled' })
}

export function currentStrategy({ known }: ActiveTask): string {
  return known.strategies.at(-1) ?? ''
}

/** Verification runs so far, in order. */
export function verificationRuns({ known }: Pick<ActiveTask, 'known'>): readonly string[] {
  return known.attempts.flatMap(({ runId }) => (runId === null ? [] : [runId]))
}
