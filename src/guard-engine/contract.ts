/**
 * The data of the guard's engine: what happened (ledger entries and notes), what follows from it (history), what is looked up for
 * an event (facts). Rules read these types and nothing else of the engine's state.
 */
import type { EndState, RuleFinding } from '../core/decision.ts'
import type { Evidence, EvidenceKind } from '../core/evidence.ts'
import type { GuardedAgent, HookKind, SessionSource } from '../core/hook-event.ts'

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
  readonly event: LedgerEvent
}

export interface DecisionEntry extends EntryBase {
  readonly kind: 'decision'
  /** The event's entry. */
  readonly of: string
  readonly verdict: 'pass' | 'deny' | 'refuse'
  readonly reason: string | null
  readonly context: string | null
  readonly notice: string | null
  readonly findings: readonly RuleFinding[]
  readonly notes: readonly Note[]
  readonly engineMs: number
}

/** Written by a person or another program: `guard verify`, `guard unlock`, `gantry verify`. */
export interface NoteEntry extends EntryBase {
  readonly kind: 'note'
  readonly note: Note
}

/** What is kept of an event: redacted, and no string longer than a few thousand characters. */
export interface LedgerEvent {
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

/** What a rule wants remembered. */
export type Note =
  | {
      readonly kind: 'evidence'
      readonly evidence: Evidence
      readonly by: EvidenceSource
      readonly callId: string | null
    }
  /** A declared command ran but its end proves nothing, and why. */
  | { readonly kind: 'no_evidence'; readonly command: string; readonly why: string }
  | {
      readonly kind: 'refused_stop'
      readonly blockers: readonly string[]
      /** Whose stop; null or absent for the main thread. */
      readonly agentId?: string | null
    }
  | { readonly kind: 'ended'; readonly state: EndState; readonly tree: string | null; readonly why: string }
  | { readonly kind: 'warned'; readonly about: string }
  /** A copy of the state that is to be handed over the compaction. */
  | { readonly kind: 'relay'; readonly text: string }
  | { readonly kind: 'tests_seen'; readonly inventory: TestInventory; readonly green: boolean }
  | { readonly kind: 'unlocked'; readonly untilMs: number; readonly by: string }
  | { readonly kind: 'waived'; readonly tree: string | null; readonly by: string; readonly why: string }
  | { readonly kind: 'sealed'; readonly files: Readonly<Record<string, string | null>> }

/** `agent`: seen in the agent's own call. `guard`: a run of ours, which an agent cannot fake. */
export type EvidenceSource = 'agent' | 'guard' | 'verifier'

export type FactName = 'tree' | 'project' | 'edited' | 'verify' | 'seal' | 'tests'

/** What was looked up for this event. Stored with it, so that the history can be read again without the disk. */
export interface Facts {
  /** Fingerprint of the working tree now; null when it was not asked for or cannot be had. */
  readonly tree: string | null
  readonly project: ProjectFacts | null
  /** The files this call edited, after it: absolute real path and content hash, null when the file is gone. */
  readonly edited: readonly EditedFile[]
  /** Runs the gate made itself, when `run_at_stop` is set. */
  readonly verify: readonly VerificationRun[]
  /** What of the guard's own files differs from the seal; null when not asked for. */
  readonly seal: readonly SealBreak[] | null
  /** Test files and the definitions of the declared commands, as content hashes; null when not asked for. */
  readonly tests: TestInventory | null
}

/** A run of ours. */
export interface VerificationRun extends Evidence {
  /** Why it proves nothing; absent when it counts. */
  readonly notCounted?: string
  /** The machinery broke: nothing is said about the project. */
  readonly infra?: true
}

export interface EditedFile {
  readonly path: string
  readonly hash: string | null
}

export interface SealBreak {
  readonly path: string
  readonly what: string
}

/** Enough to name tests that were deleted or weakened between two looks. Paths relative to the root. */
export interface TestInventory {
  readonly files: Readonly<Record<string, TestFileFacts>>
  /** How each declared command is defined, such as the script in package.json; by command, empty where nothing defines it. */
  readonly definitions: Readonly<Record<string, string>>
}

export interface TestFileFacts {
  readonly hash: string
  /** Test cases and assertions that are not skipped, counted by their syntax. */
  readonly cases: number
  readonly skipped: number
  readonly assertions: number
}

export interface ProjectFacts {
  /** Entries of the tree, sorted; directories end in `/`. */
  readonly entries: readonly string[]
  /** There are more than the listed ones. */
  readonly truncated: boolean
  /** How many more, to the same depth; absent when they were not counted. */
  readonly omitted?: number
  /** What the project is built with, as far as its files tell. */
  readonly toolchains?: readonly string[]
  readonly commands: readonly DeclaredCommand[]
  readonly plan: PlanFacts | null
}

/** A command whose success is verification of the project. */
export interface DeclaredCommand {
  readonly command: string
  readonly kind: EvidenceKind
  /** Where it was found: `harness.json`, `IMPLEMENTATION_PLAN.md`, `AGENTS.md`, `package.json`, … */
  readonly source: string
  /** Somebody wrote it down as verification; else it was concluded from the files of a toolchain. */
  readonly explicit: boolean
}

export interface PlanFacts {
  readonly total: number
  readonly done: number
  /** Titles of the open tasks in their order, shortened, at most 1,000: how many there are is `total - done`. */
  readonly open: readonly string[]
}

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
  readonly tasks: PlanHistory
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

export interface PlanHistory {
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
