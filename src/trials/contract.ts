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
import type { Timer } from '../io/timer.ts'
import type { Budget } from '../models/contract.ts'

/** One trial of a plan. JSON, if `spec` is. */
export interface PlannedTrial<Spec> {
  /** Unique in the run. */
  readonly id: string
  /** Names the trial in messages. */
  readonly title: string
  /** Trials of the same provider wait together after one of them met a limit. */
  readonly provider: string
  /** Trials of one group share something, such as a live process: never two at a time. Absent: a group of its own. */
  readonly group?: string
  /** The trial's own limit, whatever the run may spend. */
  readonly maxCostUsd?: number
  /** Trials of one key probably cost the same. Default: all do. */
  readonly like?: string
  /** What such trials cost in earlier runs, if any did. */
  readonly earlierCostUsd?: number
  /** What other trials of the same agent cost in earlier runs, if any did. */
  readonly othersCostUsd?: number
  /** What the face needs to make the trial. */
  readonly spec: Spec
}

/** The input of an attempt. JSON. */
export interface AttemptOrder<Spec> {
  readonly trial: PlannedTrial<Spec>
  /** Failed attempts at the same trial before this one. */
  readonly tries: number
  /** What the attempt may cost when it starts. null = no limit. It changes with what others spend: see `raise`. */
  readonly maxCostUsd: number | null
  /** Results of the stages that an interrupted attempt at the trial finished, by name. Empty after a failed attempt. */
  readonly stages: Readonly<Record<string, unknown>>
}

/** The outcome of an attempt. JSON, if `result` is. `costUsd` null = unmetered. */
export type AttemptResult<Result> =
  /** To be kept, whatever its verdict. */
  | { readonly kind: 'made'; readonly costUsd: number | null; readonly result: Result }
  /** The infrastructure failed. Retried if the policy allows it, else kept. */
  | {
      readonly kind: 'failed'
      readonly costUsd: number | null
      readonly result: Result
      readonly failure: AttemptFailure
    }
  /** The run's budget cut it off. The result says nothing about what was tested: it is put aside, and the trial is not run. */
  | { readonly kind: 'over_budget'; readonly costUsd: number | null; readonly result: Result }
  /** It was interrupted, or can go on only when the run is resumed. `why` is the rest of "not run: …". */
  | { readonly kind: 'not_run'; readonly costUsd: number | null; readonly why?: string }

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
  /** Says what the attempt needs in all. Returns the limit that applies now; null = no limit. */
  raise(neededUsd: number): number | null
}

/** One of the slots for trials that run at the same time. */
export interface TrialSlot {
  /**
   * Releases the slot while `wait` lasts, so other trials can run, and has one again before it settles.
   * `wait` must end when the run is interrupted. Several waits of one trial end together.
   */
  park<T>(wait: () => Promise<T>): Promise<T>
}

/** A face's definition of a trial. */
export interface TrialKind<Spec, Result> {
  /** An already known result, for example from a cache. It costs nothing. */
  known?(trial: PlannedTrial<Spec>): Promise<Result | null>
  /** Once per trial, before its first attempt. */
  started?(trial: PlannedTrial<Spec>): void
  /** For the first attempt at a trial: the stages that an interrupted one finished. */
  stages?(trial: PlannedTrial<Spec>): AttemptOrder<Spec>['stages']
  /** One attempt. Throws only for an error of the machine, which ends the run, or when the run is interrupted. */
  attempt(order: AttemptOrder<Spec>, context: AttemptContext): Promise<AttemptResult<Result>>
  /**
   * When it settles, the result survives the end of the process: the trial is not made again. Another trial may start in the
   * slot meanwhile, except one of the same group. `runTrials` settles after every `keep`. An error of it ends the run.
   */
  keep(trial: PlannedTrial<Spec>, result: Result, earlier: EarlierAttempts): void | Promise<void>
  /** Keeps the files and the cost of an attempt whose result is not kept. */
  putAside?(trial: PlannedTrial<Spec>, result: Result, why: AsideReason): void
  /** No trial of the group follows. */
  endGroup?(group: string): Promise<void>
}

export type AsideReason = 'infra' | 'over-budget' | 'interrupted'

/** When a failed attempt is followed by another. After a limit of the provider, all trials of that provider wait. */
export interface RetryPolicy {
  /** Whether another attempt may end differently. */
  mayHelp(failure: AttemptFailure): boolean
  /** Further attempts at one trial. Attempts after a wait within `maxPauseMs` are not counted. */
  readonly maxRetries: number
  /** How long one trial may wait in all for limits of its provider. */
  readonly maxPauseMs: number
  /** The longest wait before a counted attempt. */
  readonly longestWaitMs: number
  /** The wait before counted attempt number `retry`, from 0, if the provider does not ask for more. */
  retryWaitMs(retry: number): number
  /** The same for a limit, after `tries` earlier failed attempts. */
  limitWaitMs(tries: number): number
}

export interface TrialsOptions {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** On the clock of `timer`: no attempt starts after it. */
  readonly deadline?: number
  /** Default: that of the system. */
  readonly timer?: Timer
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
  /** Trials that are still to be made, in plan order. */
  readonly notRun: readonly NotRun<Spec>[]
}

export interface NotRun<Spec> {
  readonly trial: PlannedTrial<Spec>
  /** What failed attempts at it cost. null = unmetered. */
  readonly costUsd: number | null
  /** The rest of "not run: …". */
  readonly why: string
}
