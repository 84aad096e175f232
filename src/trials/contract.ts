/**
 * The engine that makes the trials of a run, for every face: it decides the order, how many run at a time, what each may
 * cost, when a failed one is tried again, and when all wait for a limit of their provider. A face says what a trial is
 * (`TrialKind`); `runTrials` does the rest.
 *
 * What goes into an attempt (`AttemptOrder`) and what comes out of it (`AttemptResult`) are values that survive
 * `JSON.stringify` and `JSON.parse`. So an attempt can be made in another process or on another machine: only `attempt`
 * has to be sent there, everything else stays with the run.
 */
import type { AgentFailure } from '../core/event.ts'
import type { RateLimiter } from '../io/rate-limiter.ts'
import type { Budget } from '../models/contract.ts'

/** One trial of a plan. JSON, if `spec` is. */
export interface PlannedTrial<Spec> {
  /** Unique in the run. */
  readonly id: string
  /** Names the trial in messages. */
  readonly title: string
  /** Trials of the same provider wait together after one of them met a limit. */
  readonly provider: string
  /** Trials of one group share something, such as a live process: they run one after the other. Absent: a group of its own. */
  readonly group?: string
  /** The trial's own limit, whatever the run may spend. */
  readonly maxCostUsd?: number
  /** What the face needs to make the trial. */
  readonly spec: Spec
}

/** What an attempt is made from. JSON. */
export interface AttemptOrder<Spec> {
  readonly trial: PlannedTrial<Spec>
  /** Failed attempts at the same trial before this one. */
  readonly tries: number
  /** What the attempt may cost: its share of the budget. null = no limit. */
  readonly maxCostUsd: number | null
}

/** What came of an attempt. JSON, if `result` is. `costUsd` null = unmetered. */
export type AttemptResult<Result> =
  /** To be kept, whatever its verdict. */
  | { readonly kind: 'made'; readonly costUsd: number | null; readonly result: Result }
  /** The machinery broke. It is tried again if the retry policy allows it, else kept. */
  | {
      readonly kind: 'failed'
      readonly costUsd: number | null
      readonly result: Result
      readonly failure: AttemptFailure
    }
  /** The run's budget cut it off. The result says nothing about what was tested: it is put aside, and the trial is not run. */
  | { readonly kind: 'over_budget'; readonly costUsd: number | null; readonly result: Result }
  /** It was interrupted, or can go on only when the run is resumed. */
  | { readonly kind: 'not_run'; readonly costUsd: number | null }

export interface AttemptFailure {
  /** null: not a failure of an agent or a model, for example a program that could not be started. */
  readonly reason: AgentFailure | null
  readonly message: string
  /** How long the provider asked to wait; null when it did not say. */
  readonly retryAfterMs: number | null
}

/** Attempts at a trial that failed before the one that is kept. */
export interface EarlierAttempts {
  readonly count: number
  /** null = one of them is unmetered. */
  readonly costUsd: number | null
}

/** Services for an attempt in this process. An attempt that is made elsewhere does without them. */
export interface AttemptContext {
  readonly slot: TrialSlot
  /** Pays what the attempt has cost so far and gives the rest of its share back, before it ends. */
  settle(costUsd: number | null): void
}

/** The right to be one of the trials that run at the same time. */
export interface TrialSlot {
  /**
   * Gives the slot up while `wait` lasts, so that other trials go on meanwhile, and has one again before it settles.
   * `wait` must end when the run is interrupted. Several waits of one trial end together.
   */
  park<T>(wait: () => Promise<T>): Promise<T>
}

/** What a face adds to the engine: what a trial is. */
export interface TrialKind<Spec, Result> {
  /** A result that is known already, for example from a cache. It costs nothing. */
  known?(trial: PlannedTrial<Spec>): Promise<Result | null>
  /** Once per trial, before its first attempt. */
  started?(trial: PlannedTrial<Spec>): void
  /** One attempt. Throws only for a fault of the machine, which ends the run, or when the run is interrupted. */
  attempt(order: AttemptOrder<Spec>, context: AttemptContext): Promise<AttemptResult<Result>>
  /** When it settles, the result must survive the end of the process: the trial is not made again. */
  keep(trial: PlannedTrial<Spec>, result: Result, earlier: EarlierAttempts): void | Promise<void>
  /** Keeps the files and the cost of an attempt whose result is not kept. */
  putAside?(trial: PlannedTrial<Spec>, result: Result, why: AsideReason): void
  /** No trial of the group follows. */
  endGroup?(group: string): Promise<void>
}

export type AsideReason = 'infra' | 'over-budget'

/** When a failed attempt is followed by another. */
export interface RetryPolicy {
  /**
   * `every_failure`: another attempt follows at once, whatever failed. `passing_failures`: only after failures that pass
   * with time, after a wait. After a limit of the provider both wait.
   */
  readonly mode: 'every_failure' | 'passing_failures'
  /** Further attempts at one trial. In `every_failure`, attempts after a limit of the provider are not counted. */
  readonly maxRetries: number
  /** How long one trial may wait in all for limits of its provider. */
  readonly maxPauseMs: number
  /** The longest wait a provider may ask for without being a pause. */
  readonly longestWaitMs: number
  /** The wait before retry number `retry`, counted from 0. */
  backoffMs(retry: number): number
}

export interface TrialsOptions {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** On the clock of `performance.now()`: no trial starts after it. */
  readonly deadline?: number
  /** null: trials cost nothing, for example because they are replayed. */
  readonly budget: Budget | null
  /** What a trial probably costs, before any has ended. */
  readonly expectedCostUsd?: number | null
  readonly retry: RetryPolicy
  /** Spaces the starts of attempts. */
  readonly limiter?: RateLimiter
  /** Everything that could start has been started, and all that is under way is parked. */
  readonly onAllParked?: () => Promise<void>
  note(note: { readonly level: 'warning'; readonly message: string }): void
}

export interface TrialsReport<Spec> {
  /** Trials that are still to be made, in plan order, each with what failed attempts at it cost (null = unmetered). */
  readonly notRun: readonly { readonly trial: PlannedTrial<Spec>; readonly costUsd: number | null }[]
  /** Why the budget allowed no further trial; null when it did. */
  readonly refusal: string | null
}
