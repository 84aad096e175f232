/** One call of a hook, as its process was started and what it was told. */
export interface HookRequest {
  /** As the command line names it; it need not be one we know. */
  readonly agent: string
  /** The event's name from the command line. */
  readonly event: string | null
  readonly agentVersion: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** What came in on stdin. */
  readonly payload: Uint8Array
  /** Under which the event is written to the ledger: whoever answers it, it counts once. */
  readonly eventId: string
}

/** What runs: the program of the hooks, and which edition of it. */
export interface HookProgram {
  /** The Node that runs it. */
  readonly node: string
  /** Absolute; null when the guard runs inside another program. */
  readonly hookBin: string | null
  /** Changes with every change of the program. */
  readonly edition: string
}
