import type { EndState } from '../../core/decision.ts'
import type { Evidence } from '../../core/evidence.ts'
import type { EditedFile, TestInventory } from './facts.ts'
import type { LedgerEntry, StoredCall } from './ledger-entry.ts'
import type { EvidenceSource } from './note.ts'
import type { DeclaredCommand, PlanFacts } from './project-facts.ts'

/**
 * What happened so far in one session of one project, derived from the ledger by folds and from nothing else.
 * Plain JSON: it is kept as a checkpoint.
 */
export interface History {
  readonly session: SessionHistory
  readonly edits: EditHistory
  readonly calls: CallHistory
  readonly evidence: EvidenceHistory
  readonly gate: GateHistory
  readonly tasks: TaskHistory
}

/** One field of the history. `apply` is pure, and cheap: it runs for every line. */
export interface Fold<State> {
  readonly initial: State
  apply(state: State, entry: LedgerEntry): State
}

export interface SessionHistory {
  readonly id: string | null
  /** ISO; the first event seen since the session was started or resumed, and never before the latest known then. */
  readonly startedAt: string | null
  /** The latest time any event told, so that a clock that goes back shortens nothing. */
  readonly latestMs: number
  readonly contextInjected: boolean
  readonly compactedAt: string | null
  /** Saved before a compaction, to be injected after it; null as soon as the session has moved on. */
  readonly relay: string | null
  /** Declared at the start of the session: the agent cannot take one away. */
  readonly declared: readonly DeclaredCommand[]
  readonly entries: number
  /** What was already said once, by `Note.warned`. */
  readonly warned: readonly string[]
}

export interface EditHistory {
  /** Edits per absolute path since the session began anew, by Write, Edit, MultiEdit, NotebookEdit, patches. */
  readonly counts: Readonly<Record<string, number>>
  /** The same since the current task began; which of the two holds is a setting: `editCounts` knows. */
  readonly sinceTask?: Readonly<Record<string, number>>
  /** The same since tests were last seen green. */
  readonly sinceGreen?: Readonly<Record<string, number>>
  /** First open task of the plan when it was last looked at; null when all are done, absent when there was no look. */
  readonly task?: string | null
  /** Content hashes of a file after each edit, oldest first, a bounded number. */
  readonly contents: Readonly<Record<string, readonly (string | null)[]>>
  /** Edits per agent id (`main` for the main thread) since the session began. */
  readonly byAgent: Readonly<Record<string, number>>
}

export interface CallHistory {
  /** The last calls, oldest first, a bounded number. */
  readonly recent: readonly PastCall[]
  /** Calls that began and have not ended, by id or signature: the tree before them, when it was looked at. */
  readonly open: Readonly<Record<string, OpenCall>>
  readonly total: number
  readonly failures: number
}

export interface OpenCall {
  readonly tree: string | null
  readonly at: string
  /** The event that began it. */
  readonly entry?: string
  /** The event that ended it: it stays until that event is decided, so that its rules can compare the trees. */
  readonly ended?: string
}

export interface PastCall {
  readonly signature: string
  readonly tool: string
  readonly action: StoredCall['action']
  readonly agentId: string | null
  readonly outcome: 'success' | 'failure' | 'unknown'
  /** Signature of the outcome's text. */
  readonly result: string
  readonly tree: string | null
  /** Of edits: path and content hash. */
  readonly edited: readonly EditedFile[]
  /** The command or the path, shortened, for the message. */
  readonly label: string
  /** Only looks or waits, so that doing it again is no loop. */
  readonly quiet?: true
}

export interface EvidenceHistory {
  /** The newest per command. */
  readonly byCommand: Readonly<Record<string, Evidence & { readonly by: EvidenceSource }>>
  /** Why the last run of a command did not count, until one does. */
  readonly rejected: Readonly<Record<string, string>>
  /** The tests as they were when all was last green, or at the start of the session. */
  readonly tests: TestInventory | null
  /** Was that look taken when all was green? */
  readonly testsGreen: boolean
  /** Every command that was discovered in the project so far, whenever it was looked at. */
  readonly known?: readonly DeclaredCommand[]
}

export interface GateHistory {
  /** The tree nothing is asked about: at the start of the session, then at each end. */
  readonly baseTree: string | null
  /** By `agent id or main`: refusals in the current prompt. */
  readonly refusals: Readonly<Record<string, number>>
  readonly lastEnd: { readonly state: EndState; readonly tree: string | null; readonly at: string } | null
  /** Trees a person has waived. */
  readonly waived: readonly string[]
  /** Epoch ms until which a person has unlocked self-protection; 0 when not. */
  readonly unlockedUntilMs: number
  /** Tree when a subagent began, by agent id. */
  readonly subagentTrees: Readonly<Record<string, string | null>>
  readonly promptId: string | null
  /** The guard's own files as they were sealed: content hash by absolute path, null for one that must not be there. */
  readonly sealed: Readonly<Record<string, string | null>> | null
  /** Nothing that could change the tree was called since the base was taken: what changes meanwhile is not the agent's. */
  readonly settled?: boolean
  /** Tasks of the plan that were ticked off when they were last counted, and when the base was taken. */
  readonly ticked?: number
  readonly baseTicked?: number
}

export interface TaskHistory {
  readonly current: string | null
  readonly done: number
  readonly remaining: number
  /** Grows with every task that is finished. */
  readonly iteration: number
  readonly phase: 'idle' | 'executing'
  readonly tdd: 'red' | 'green' | 'refactor' | null
  readonly plan: PlanFacts | null
  /** What was edited since the tests were last green. */
  readonly touched?: { readonly tests: boolean; readonly any: boolean }
}
