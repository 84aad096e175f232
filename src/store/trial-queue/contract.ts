import { GantryError } from '../../core/error.ts'

/**
 * A queue of trials and coding tasks that several machines work on. A task is a run with one trial. One contract, two members:
 * PostgreSQL (leases by pg-boss), and SQLite for several processes of one machine.
 *
 * What travels. A run is its plan document and one blob with the files of the project. A trial is a value (`spec`) of the plan. Its
 * result is a record and one blob with its directory. Blobs are named for their SHA-256 and checked when they are read. Values of environment
 * variables never travel: a worker uses its own.
 *
 * Transactions.
 * - `submit` stores the run, its trials and their leases together. Nothing is half enqueued.
 * - `claim` takes a lease, reserves money of the run and marks the trial as running together. While the money that is left is reserved
 *   by others, it waits; when nothing is left, it settles the trials of the run as not run.
 * - `complete` ends leases, stores records and archives, pays, and numbers the results together. It does nothing for a lease that was
 *   lost, so a trial has exactly one record, however many workers tried.
 *
 * Leases. A worker calls `beat` for each claim about three times per `leaseSeconds`, with what the trial has cost so far, so that an
 * attempt whose worker dies is paid for as well. `expire`, which every worker calls now and then, returns leases without a beat to the
 * queue. A lease has an attempt number; a call with an older one is refused. All times are those of the database's clock.
 *
 * Order. Higher priority first, then fair between runs: the first trial of a new run comes with the next one of a run that is under
 * way, then both alternate. Trials of a run keep the order of its plan, so the arms of a case run close together. A lane is the
 * trials of one run that need the same of a worker.
 */
export interface TrialQueue {
  /** Without a beat for this long, a claim returns to the queue. */
  readonly leaseSeconds: number
  /** Stores bytes and returns their hash. The same bytes are stored once. */
  put(bytes: Uint8Array): Promise<string>
  /** Throws GantryError NOT_FOUND or CORRUPT. */
  get(hash: string): Promise<Uint8Array>
  /** false: the run is known already, with the same plan. Throws GantryError USAGE when it is known with another plan. */
  submit(run: NewQueuedRun): Promise<boolean>
  /** null when there is no such run. */
  run(id: string): Promise<QueuedRun | null>
  runs(): Promise<readonly QueuedRun[]>
  /** The trials of a run as they were submitted, in the order of its plan. */
  specs(runId: string): Promise<readonly string[]>
  /** Registers the worker as alive. `isDraining`: it should take nothing more. */
  register(worker: WorkerFacts): Promise<{ readonly isDraining: boolean }>
  unregister(workerId: string): Promise<void>
  workers(): Promise<readonly RegisteredWorker[]>
  /** Asks one worker, or all, to finish what they have and end. */
  drain(workerId: string | null): Promise<number>
  /** Lanes of runs that have not ended. */
  lanes(): Promise<readonly TrialLane[]>
  /**
   * The next trials for the worker; empty when there are none now. `most`: that many if no other lane waits, the run
   * has no cap and no group a limit, else one.
   */
  claim(
    workerId: string,
    fits: (lane: TrialLane) => boolean | Promise<boolean>,
    most?: number,
  ): Promise<readonly TrialClaim[]>
  /** Extends the lease. false: it was lost, and the trial belongs to another worker. */
  beat(claim: TrialClaim, spentUsd: number): Promise<boolean>
  /** Of each, false: the lease was lost, and nothing was stored. */
  complete(ended: readonly EndedClaim[]): Promise<readonly boolean[]>
  /** Returns the trial to the queue, for example when the worker ends. null: it was not begun, so this was no try. */
  giveBack(
    claim: TrialClaim,
    begun: { readonly spentUsd: number; readonly pausedMs?: number } | null,
  ): Promise<void>
  /** Keeps notes about a run, in order. `attempt`: the number of tries of the claim; 0 for notes of the submitter. */
  tell(runId: string, attempt: number, notes: readonly string[]): Promise<void>
  /** Notes after a place. Those of a worker that lost its claim come before those of the next one, so a reader has passed them. */
  notes(runId: string, after: NotePlace, limit: number): Promise<readonly RunNote[]>
  /** Settled trials in the order in which they were settled, after a number. */
  results(runId: string, after: number, limit: number): Promise<readonly SettledTrial[]>
  /** Settles every trial of the run that has not started as not run. Returns their number. Throws GantryError NOT_FOUND, as `retry`. */
  stop(runId: string, why: string): Promise<number>
  /** Puts trials that were not run, or whose verdict is `infra`, back into the queue. Returns their number. */
  retry(runId: string): Promise<number>
  /** Pauses a group until a time, or until `resume`. Of two pauses the longer one applies. `*` is every group. */
  pause(group: string, forMs: number | null, reason: string): Promise<void>
  resume(group: string): Promise<void>
  pauses(): Promise<readonly GroupPause[]>
  /** How many trials of a group may run at a time on all machines together. null: any number. */
  limit(group: string, most: number | null): Promise<void>
  counts(): Promise<readonly QueueCount[]>
  expire(): Promise<void>
  close(): Promise<void>
}

export const noSuchRun = (runId: string) =>
  new GantryError('NOT_FOUND', `the queue has no run ${JSON.stringify(runId)}`, {
    hint: 'See "gantry queue status".',
  })

/** A run of one coding task has the id of the task. */
export const isTaskId = (runId: string): boolean => runId.startsWith('task_')

export const defaultLeaseSeconds = 30

/** A worker that was not seen for this long is gone. */
export const workerGoneMs = 90_000

/** What a worker must have. A worker without one of them does not get the trial. */
export interface TrialNeed {
  readonly agent: string
  readonly labels: readonly string[]
  readonly memoryMb: number
  /** The version of Gantry. */
  readonly gantry: string
}

export interface TrialLane {
  readonly name: string
  readonly run: string
  readonly need: TrialNeed
  /** Trials that have not started. */
  readonly waiting: number
}

export interface NewQueuedRun {
  readonly id: string
  /** Two submissions of one id must agree on it. */
  readonly planHash: string
  /** JSON: what a worker and a follower need besides the trials. */
  readonly document: string
  /** The blob with the files of the project. */
  readonly project: string
  readonly capUsd: number | null
  /** Higher first. */
  readonly priority: number
  readonly trials: Iterable<NewQueuedTrial>
}

export interface NewQueuedTrial {
  readonly id: string
  /** JSON. */
  readonly spec: string
  readonly need: TrialNeed
  /** Trials of one group share a limit of their provider. */
  readonly group: string
  /** What it probably costs. null: what the dearest trial of the run has cost. */
  readonly expectedUsd: number | null
}

export interface QueuedRun {
  readonly id: string
  readonly document: string
  readonly project: string
  /** Since it was submitted. */
  readonly ageMs: number
  readonly planned: number
  /** Trials that have not ended. */
  readonly open: number
  /** The number of the last result. */
  readonly settled: number
  readonly capUsd: number | null
  readonly spentUsd: number
  readonly reservedUsd: number
}

export interface WorkerFacts {
  readonly id: string
  readonly host: string
  readonly slots: number
  readonly gantry: string
  /** What it was given by the user, and the sandboxes it has. */
  readonly labels: readonly string[]
  readonly memoryMb: number
  /** Versions of the agents that need no configuration, by name. */
  readonly agents: Readonly<Record<string, string | null>>
  /** Only trials of these agents; empty: of any. */
  readonly onlyAgents: readonly string[]
  /** Lanes that it tried to open and cannot work on, with the reason. */
  readonly refusals: Readonly<Record<string, string>>
}

export interface RegisteredWorker extends WorkerFacts {
  readonly seenMsAgo: number
  readonly isDraining: boolean
  /** The trials it works on. */
  readonly holds: readonly { readonly run: string; readonly trial: string }[]
}

export interface TrialClaim {
  readonly run: string
  readonly trial: string
  readonly spec: string
  readonly lane: string
  readonly group: string
  readonly lease: string
  readonly attempt: number
  /** Claims of the trial so far that were begun, with this one. */
  readonly tries: number
  /** How long the trial has waited for limits of its provider. */
  readonly pausedMs: number
  /** What the trial may cost; null = no limit. */
  readonly limitUsd: number | null
}

export interface NotePlace {
  readonly attempt: number
  readonly no: number
}

export interface RunNote extends NotePlace {
  readonly text: string
}

/** A lane that a worker has prepared. */
export interface LaneWork {
  run(claim: TrialClaim, signal: AbortSignal): Promise<ClaimEnding>
  /** What the claim has cost so far. */
  spentUsd(claim: TrialClaim): Promise<number>
  /** Removes what the claim left on this machine. */
  clean(claim: TrialClaim): void
}

/** What becomes of a claim. */
export type ClaimEnding =
  | { readonly kind: 'settled'; readonly outcome: TrialOutcome }
  | { readonly kind: 'interrupted' }
  /** The provider's limit applies to all machines. */
  | { readonly kind: 'limited'; readonly spentUsd: number; readonly waitMs: number; readonly why: string }
  /** This machine cannot run it. */
  | { readonly kind: 'refused'; readonly spentUsd: number; readonly why: string }

export interface EndedClaim {
  readonly claim: TrialClaim
  readonly outcome: TrialOutcome
}

export interface TrialOutcome {
  /** JSON of the record. null: the trial was not run, and `why` says so. */
  readonly record: string | null
  /** The packed directory of the trial. */
  readonly archive: Uint8Array | null
  /** null = unmetered. */
  readonly costUsd: number | null
  /** What attempts without a record cost. */
  readonly lostUsd?: number
  readonly why?: string
}

export interface SettledTrial {
  readonly no: number
  readonly trial: string
  readonly record: string | null
  readonly archive: string | null
  /** The archive, checked, when it is small. null: read it with `get`. */
  readonly files: Uint8Array | null
  readonly costUsd: number | null
  /** What attempts without a record cost. */
  readonly lostUsd: number
  readonly why: string | null
  readonly worker: string | null
  readonly attempts: number
}

export interface GroupPause {
  readonly group: string
  /** null: until it is resumed. */
  readonly leftMs: number | null
  readonly reason: string
}

export interface QueueCount {
  readonly run: string
  readonly group: string
  readonly state: 'queued' | 'running' | 'done' | 'not_run'
  readonly count: number
}
