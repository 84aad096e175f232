/** One thing of a log as the report sees it, whatever kind of log it stands in. */
export type TraceItem = TraceCall | TraceRefusal

export interface TraceCall {
  readonly kind: 'call'
  /** Epoch ms; null when the record tells none. */
  readonly atMs: number | null
  readonly tool: string
  readonly result: 'success' | 'failure' | 'denied' | 'unknown'
  /** Files it edited; none when it is no edit. */
  readonly edits: readonly string[]
  /** Of a shell call. */
  readonly command: string | null
  /** What it was about, for people: command or path. */
  readonly label: string
  readonly durationMs: number | null
  readonly agentId: string | null
  /** Of a denial: which rule spoke, null when it was not the guard. */
  readonly rule: string | null
  /** Same tool with same input; null when the record has none. */
  readonly signature: string | null
}

/** The guard kept the agent from stopping, or spoke about something that is no call. */
export interface TraceRefusal {
  readonly kind: 'refusal'
  readonly atMs: number | null
  readonly verdict: 'deny' | 'refuse'
  readonly rule: string
}
