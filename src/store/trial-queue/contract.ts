/**
 * A queue of trials that several machines work on. One contract, two members: PostgreSQL (leases by pg-boss), and SQLite for
 * several processes of one machine.
 *
 * What travels. A run is its plan document and one blob with the files of the project. A trial is a value (`spec`) of the plan. Its
 * result is a record and one blob with its directory. Blobs are named for their SHA-256 and checked when they are read. Values of environment
 * variables never travel: a worker uses its own.
 *
 * Transactions.
 * - `submit` stores the run, its trials and their leases together. Nothing is half enqueued.
 * - `claim` takes a lease, reserves money of the run and marks the trial as running together. A run without money left settles its
 *   trials as not run instead.
 * - `complete` ends the lease, stores record and archive, pays, and numbers the result together. It does nothing when the lease was
 *   lost, so a trial has exactly one record, however many workers tried.
 *
 * Leases. A worker calls `beat` for each claim about three times per `leaseSeconds`. `expire`, which every worker and follower calls
 * now and then, returns leases without a beat to the queue. A lease has an attempt number; a call with an older one is refused. All times
 * are those of the database's clock.
 *
 * Order. Higher priority first, then the position in the plan of its run: the third trials of two runs come together, whatever their
 * sizes. Trials of one lane (a set of needs) are ordered; lanes are taken in turn.
 */
export interface TrialQueue {
  /** Stores bytes and returns their hash. The same bytes are stored once. */
  put(bytes: Uint8Array): Promise<string>
  /** Throws GantryError NOT_FOUND or CORRUPT. */
  get(hash: string): Promise<Uint8Array>
  /** false: the run is known already, with the same plan. Throws GantryError USAGE when it is known with another plan. */
  submit(run: NewQueuedRun): Promise<boolean>
  /** null when there is no such run. */
  run(id: string): Promise<QueuedRun | null>
  runs(): Promise<readonly QueuedRun[]>
  /** Registers the worker as alive. `isDraining`: it should take nothing more. */
  register(worker: WorkerFacts): Promise<{ readonly isDraining: boolean }>
  unregister(workerId: string): Promise<void>
  workers(): Promise<readonly RegisteredWorker[]>
  /** Asks one worker, or all, to finish what they have and end. */
  drain(workerId: string | null): Promise<number>
  /** The next trial for the worker; null when there is none now. */
  claim(workerId: string, fits: (need: TrialNeed) => boolean, shareUsd: number): Promise<TrialClaim | null>
  /** Extends the lease. false: it was lost, and the trial belongs to another worker. */
  beat(claim: TrialClaim): Promise<boolean>
  /** false: the lease was lost, and nothing was stored. */
  complete(claim: TrialClaim, result: TrialOutcome): Promise<boolean>
  /** Returns the trial to the queue, for example when the worker ends. */
  giveBack(claim: TrialClaim): Promise<void>
  /** Settled trials in the order in which they were settled, after a number. */
  results(runId: string, after: number, limit: number): Promise<readonly SettledTrial[]>
  /** Settles every trial of the run that has not started as not run. Returns their number. */
  stop(runId: string, why: string): Promise<number>
  /** Puts trials that were not run, or whose verdict is `infra`, back into the queue. Returns their number. */
  retry(runId: string): Promise<number>
  /** Pauses a group until a time, or until `resume`. `*` is every group. */
  pause(group: string, forMs: number | null, reason: string): Promise<void>
  resume(group: string): Promise<void>
  pauses(): Promise<readonly GroupPause[]>
  /** How many trials of a group may run at a time on all machines together. null: any number. */
  limit(group: string, most: number | null): Promise<void>
  needs(): Promise<readonly TrialNeed[]>
  counts(): Promise<readonly QueueCount[]>
  expire(): Promise<void>
  close(): Promise<void>
}

/** Without a beat for this long, a claim returns to the queue. */
export const leaseSeconds = 30

/** A worker that was not seen for this long is gone. */
export const workerGoneMs = 90_000

/** What a worker must have. A worker without one of them does not get the trial. */
export interface TrialNeed {
  /** The driver of the agent. */
  readonly driver: string
  /** The version of the agent that the submitter has; null when it has none. */
  readonly version: string | null
  readonly agent: string
  readonly labels: readonly string[]
  /** The version of Gantry. */
  readonly gantry: string
}

export interface NewQueuedRun {
  readonly id: string
  /** Two submissions of one id must agree on it. */
  readonly planHash: string
  /** JSON: what a follower needs to make the run directory. */
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
}

export interface QueuedRun {
  readonly id: string
  readonly document: string
  readonly project: string
  readonly planned: number
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
  readonly labels: readonly string[]
  /** Versions of the agents it has, by driver. */
  readonly agents: Readonly<Record<string, string | null>>
}

export interface RegisteredWorker extends WorkerFacts {
  readonly seenMsAgo: number
  readonly isDraining: boolean
  readonly running: number
}

export interface TrialClaim {
  readonly run: string
  readonly trial: string
  readonly spec: string
  readonly lane: string
  readonly lease: string
  readonly attempt: number
}

export interface TrialOutcome {
  /** JSON of the record. null: the trial was not run, and `why` says so. */
  readonly record: string | null
  /** The packed directory of the trial. */
  readonly archive: Uint8Array | null
  /** null = unmetered. */
  readonly costUsd: number | null
  readonly why?: string
}

export interface SettledTrial {
  readonly no: number
  readonly trial: string
  readonly record: string | null
  readonly archive: string | null
  readonly costUsd: number | null
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
