import type { Finding } from '../../core/decision.ts'
import type { GuardedAgent, HookKind, SessionSource } from '../../core/hook-event.ts'
import type { Facts } from './facts.ts'
import type { Note } from './note.ts'

/** A line of the ledger. */
export type LedgerEntry = EventEntry | DecisionEntry | NoteEntry

interface EntryBase {
  /** Unique; of an event also what its decision refers to. */
  readonly id: string
  /** ISO 8601 of the writer's clock. */
  readonly at: string
}

export interface EventEntry extends EntryBase {
  readonly kind: 'event'
  readonly event: StoredEvent
}

export interface DecisionEntry extends EntryBase {
  readonly kind: 'decision'
  /** The event's entry. */
  readonly of: string
  readonly verdict: 'pass' | 'deny' | 'refuse'
  readonly reason: string | null
  readonly context: string | null
  readonly notice: string | null
  readonly findings: readonly Finding[]
  readonly notes: readonly Note[]
  readonly engineMs: number
}

/** Written by a person or another program: `guard verify`, `guard unlock`, `gantry verify`. */
export interface NoteEntry extends EntryBase {
  readonly kind: 'note'
  readonly note: Note
}

/** What is kept of an event: redacted, and no string longer than a few thousand characters. */
export interface StoredEvent {
  readonly kind: HookKind
  readonly agent: GuardedAgent
  readonly session: string
  readonly agentId: string | null
  readonly agentType: string | null
  readonly promptId: string | null
  readonly cwd: string
  readonly source?: SessionSource
  /** A prompt's `synthetic`, a stop's `again`. */
  readonly flag?: boolean
  /** Of a prompt, of a last message: redacted and shortened. */
  readonly text?: string
  readonly call?: StoredCall
  readonly facts: Partial<Facts>
}

export interface StoredCall {
  readonly id: string | null
  readonly tool: string
  readonly action: 'shell' | 'write' | 'edit' | 'patch' | 'read' | 'subagent' | 'unknown'
  /** Absolute paths the call names as its targets. */
  readonly paths: readonly string[]
  /** Of a shell call, redacted and shortened. */
  readonly command?: string
  /** Same tool with the same input: hash over both, before redaction. */
  readonly signature: string
  /** Redacted and shortened; what the trace shows. */
  readonly input: unknown
  readonly outcome?: {
    readonly kind: 'success' | 'failure' | 'unknown'
    readonly exitCode: number | null
    /** Hash over the output with numbers, times and paths taken out: the same error again has the same one. */
    readonly signature: string
    /** First lines, redacted. */
    readonly head: string
    readonly durationMs?: number
  }
}
