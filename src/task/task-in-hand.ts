import type { TestInventory } from '../guard-engine/contract.ts'
import type { LiveRun } from '../store/contract.ts'
import type { AttemptRecord, LoopCounters, ParsedTask, ScoutAnswer, TaskStep } from './contract.ts'
import type { Conventions } from './editor/sample-conventions.ts'
import type { EditorWriteLimits } from './editor/write-limits.ts'
import type { Feed } from './journal/feed.ts'
import type { Journal } from './journal/open-journal.ts'
import type { KeptVerification } from './kept-verification.ts'
import type { StuckContext } from './reports/read-stuck-report.ts'
import type { ScoutAReport } from './scouts/scout-a-schema.ts'
import type { ScoutBReport } from './scouts/scout-b-schema.ts'
import type { Decision } from './snapshots/write-snapshot.ts'
import type { Spending } from './spending.ts'
import type { EditorStates } from './states.ts'
import { TaskHalt } from './task-halt.ts'
import { shutdown, type TaskPowers, type TaskRequest, type TaskWork } from './task-request.ts'
import type { TaskTree } from './tree/open-tree.ts'

/** A task under way: what every step of it needs, and what is known so far. */
export interface TaskInHand {
  readonly request: TaskRequest
  readonly powers: TaskPowers
  readonly task: ParsedTask
  readonly run: LiveRun
  readonly journal: Journal
  readonly emit: (step: TaskStep) => void
  /** What the work tells goes through it. */
  readonly feed: Feed
  readonly states: EditorStates
  readonly tree: TaskTree
  readonly writeLimits: EditorWriteLimits
  readonly work: TaskWork
  readonly spending: Spending
  readonly signal: AbortSignal
  readonly now: () => Date
  /** The tree, and its tests, when the task began. */
  readonly baseline: Baseline
  /** What an earlier attempt at this task left. */
  readonly stuck: StuckContext | null
  readonly known: Known
}

export interface Baseline {
  readonly tree: string
  readonly tests: TestInventory
}

/** Grows as the task goes on; a task that is taken up again comes to the same. */
export interface Known {
  scoutA: ScoutAnswer<ScoutAReport> | null
  scoutB: ScoutAnswer<ScoutBReport> | null
  conventions: Conventions | null
  readonly decisions: Decision[]
  readonly corrections: string[]
  /** The last one is being followed. */
  readonly strategies: string[]
  readonly attempts: AttemptRecord[]
  counters: LoopCounters
  verification: KeptVerification | null
  diagnosis: ScoutBReport['failure_analysis'] | null
  /** What the Editor said when it last stopped. */
  account: string
  /** How the tests are weaker than when the task began. */
  weaker: readonly string[]
  /** For the summary: what a person should know although the work passed. */
  readonly notes: string[]
  /** Numbers of the next Editor turn and of the next questions. */
  readonly next: { edit: number; scout_a: number; scout_b: number }
}

/** Throws a halt when the task is to stop. */
export function goOn({ signal }: Pick<TaskInHand, 'signal'>): void {
  if (!signal.aborted) return
  throw new TaskHalt({ kind: signal.reason === shutdown ? 'left' : 'cancelled' })
}

export function currentStrategy({ known }: TaskInHand): string {
  return known.strategies.at(-1) ?? ''
}
