/**
 * The data of the guard's engine: what happened (ledger entries and notes), what follows from it (history), and what is looked up for an
 * event (facts). Rules read only these types of the engine's state.
 */
import type { Decision, EndState } from '../core/decision.ts'
import type { Evidence, EvidenceKind } from '../core/evidence.ts'
import type { GuardedAgent, HookEventBase, HookKind, SessionSource } from '../core/hook-event.ts'

/** A line of the ledger. */
export type LedgerEntry = EventEntry | DecisionEntry | NoteEntry

interface EntryBase {
  /** Unique. A decision refers to its event by this id. */
  readonly id: string
  /** ISO 8601, from the clock of the writer. */
  readonly at: string
}

export interface EventEntry extends EntryBase {
  readonly kind: 'event'
  readonly event: LedgerEvent
}

export interface DecisionEntry extends EntryBase, Omit<Decision, 'id'> {
  readonly kind: 'decision'
  /** Id of the event's entry. */
  readonly of: string
  readonly notes: readonly Note[]
  readonly engineMs: number
}

/** Written by a user or another program: `guard verify`, `guard unlock`, `gantry verify`. */
export interface NoteEntry extends EntryBase {
  readonly kind: 'note'
  readonly note: Note
}

/** The stored form of an event: redacted, with strings limited to a few thousand characters. */
export interface LedgerEvent extends Omit<HookEventBase, 'root'> {
  readonly kind: HookKind
  readonly source?: SessionSource
  /** A prompt's `synthetic`, a stop's `again`. */
  readonly flag?: boolean
  /** Text of a prompt or of a last message, redacted and shortened. */
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
  /** Hash of tool and input, before redaction. */
  readonly signature: string
  /** Redacted and shortened, for the trace. */
  readonly input: unknown
  readonly outcome?: {
    readonly kind: 'success' | 'failure' | 'unknown'
    readonly exitCode: number | null
    /** Hash of the output without numbers, times and paths. The same error has the same hash. */
    readonly signature: string
    /** First lines, redacted. */
    readonly head: string
    /** Number of failed tests, if the output of a failure shows one. */
    readonly failing?: number
    readonly durationMs?: number
  }
}

/** What a rule wants to be remembered. */
export type Note =
  | {
      readonly kind: 'evidence'
      readonly evidence: Evidence
      readonly by: EvidenceSource
      readonly callId: string | null
      /** The output is of this command only, so its number of tests can be compared. */
      readonly alone?: true
    }
  /** A declared command ran, but its end proves nothing, and why. */
  | {
      readonly kind: 'no_evidence'
      readonly command: string
      readonly why: string
      /** The tree on which the whole command may have succeeded: only how it ended, or that it was the whole one, could not be seen. */
      readonly unclear?: string
      /** Tests that failed in a run of a part of it, on the files of the start. */
      readonly failedAtStart?: readonly string[]
    }
  | {
      readonly kind: 'refused_stop'
      readonly blockers: readonly string[]
      /** Id of the agent that stopped; null or absent for the main thread. */
      readonly agentId?: string | null
    }
  | { readonly kind: 'ended'; readonly state: EndState; readonly tree: string | null; readonly why: string }
  | { readonly kind: 'warned'; readonly about: string }
  /** A copy of the state to restore after the compaction. */
  | { readonly kind: 'relay'; readonly text: string }
  | { readonly kind: 'tests_seen'; readonly inventory: TestInventory; readonly green: boolean }
  /** `gantry plan run` ticked a task off, in its iteration with this number. */
  | { readonly kind: 'ticked'; readonly plan: PlanFacts; readonly iteration: number }
  | { readonly kind: 'unlocked'; readonly untilMs: number; readonly by: string }
  | { readonly kind: 'waived'; readonly tree: string | null; readonly by: string; readonly why: string }
  | {
      readonly kind: 'sealed'
      readonly files: Readonly<Record<string, string | null>>
      /** What the settings files said. Without it, the texts of the seal before stay. */
      readonly texts?: Readonly<Record<string, string>>
    }
  /** Calls of a session changed protected files. A note of the project, so that later sessions know it. */
  | { readonly kind: 'changes_made'; readonly changes: readonly UnseenChange[] }
  /** A person has seen every change of protected files up to now. */
  | { readonly kind: 'changes_seen'; readonly by: string }
  /** A stop was refused because of changed protected files. */
  | { readonly kind: 'changes_refused' }
  /** Changes that no call made were shown to the user. */
  | { readonly kind: 'changes_reported' }

/** `agent`: observed in the agent's own call. `guard`: our own run, which an agent cannot fake. */
export type EvidenceSource = 'agent' | 'guard' | 'verifier'

export type FactName =
  | 'tree'
  | 'project'
  | 'edited'
  | 'placed'
  | 'verify'
  | 'seal'
  | 'tests'
  | 'protected'
  | 'hooks'
  | 'changes'
  | 'branches'

/** Facts looked up for this event. Stored with it, so that the history can be rebuilt without the disk. */
export interface Facts {
  /** Fingerprint of the current working tree; null when not requested or not available. */
  readonly tree: string | null
  readonly project: ProjectFacts | null
  /** The files this call edited: absolute real path and content hash after the edit, null when the file is gone. */
  readonly edited: readonly EditedFile[]
  /** Outputs of a build that this call wrote without building them, by path with what identifies their content. */
  readonly placed?: Readonly<Record<string, string>>
  /** The gate's own runs, see `completion.verify`. */
  readonly verify: readonly VerificationRun[]
  /** Those on the files of the start, see `runAtStart`. */
  readonly atStart?: readonly VerificationRun[]
  /** Own files of the guard that differ from the seal; null when not requested. */
  readonly seal: readonly SealBreak[] | null
  /** Test files and the definitions of the declared commands, as content hashes; null when not requested. */
  readonly tests: TestInventory | null
  /** While the call ran, only lock files, reports and outputs of tools changed. */
  readonly onlyGenerated?: true
  /** Why the program that ran a check is not the real one, a sentence without a full stop; absent when nothing is known against it. */
  readonly runner?: string
  /** A source, a test or a file of the runner that was written while the check ran, whatever it says now. */
  readonly written?: string
  /** A run had something around it that changed sources ask for; `isByCall`: its own call set that, so it can run without. */
  readonly around?: { readonly why: string; readonly isByCall?: true }
  /** What happened to protected files since the last look; null when nothing did, or when not requested. */
  readonly protected: ProtectedFacts | null
  /** Installed hooks that are gone: at the start in all projects, after a call in this one. Absent when not requested. */
  readonly hooks?: readonly MissingHook[]
  /**
   * What changed since earlier trees, by their fingerprints: the base of the gate, and the trees of evidence. `A..B` is the difference of two
   * earlier trees. Unknown trees are absent.
   */
  readonly changes?: Readonly<Record<string, TreeChange>> | null
  /** The local branches; absent when not requested or without git. */
  readonly branches?: BranchFacts
}

export interface BranchFacts {
  /** The commit of each. */
  readonly heads: Readonly<Record<string, string>>
  /** Work of code that is not in the tree and that no green run has seen, limited in number. */
  readonly unverified: readonly PutAwayWork[]
  /** git brought every change since the base: from a branch of the start of the work, or from a commit that was fetched. */
  readonly arrived?: 'known' | 'fetched'
}

/** Commits since the work began. */
export interface PutAwayWork {
  /** Of a branch, a tag or another ref; a commit that no branch has; or `refs/stash`. */
  readonly branch: string
  readonly commit: string
  readonly file: string
  /** They were made in this working tree. */
  readonly isOwn?: true
  /** No ref has them: a reset or a deleted branch gave them up. */
  readonly isGivenUp?: true
  /** Name of the other worktree in which they were made. */
  readonly worktree?: string
  /** A file outside of the tree has the work; `branch` is its path. */
  readonly isCopy?: true
}

/** Hooks of an agent that should be in a file and are not. */
export interface MissingHook {
  readonly agent: GuardedAgent
  readonly path: string
  readonly root: string
  /** They are for all projects, in the user's home. */
  readonly isOfUser: boolean
  /** When they were gone at the latest, in epoch ms; null when that is not known. */
  readonly sinceMs: number | null
  /** Why the agent does not run them, although the file names them. */
  readonly why?: string
  /** `added`: to a worktree that had none. */
  readonly result: 'missing' | 'put back' | 'added'
}

export interface ProtectedFacts {
  readonly changes: readonly ProtectedChange[]
  /** Calls that were running besides the one that ended, as shown to people. */
  readonly others: readonly string[]
  /** The first look of a session, with which later ones are compared. */
  readonly first?: true
  /** Limits were reached: files that are further away are not watched. */
  readonly partial?: true
  /** Why protected files are not read-only for commands although the settings want it; on the first look. */
  readonly kernelOff?: string
}

export interface ProtectedChange {
  readonly path: string
  readonly what: 'changed' | 'new' | 'missing'
  readonly pattern: string
  /** Whether it was put back, if that was tried. */
  readonly restored?: boolean
  /** Why it was not put back. */
  readonly why?: string
  /** Where the changed version was put. */
  readonly aside?: string
}

/** The difference between an earlier tree and the current one. */
export interface TreeChange {
  /** Relative to the root, code first, limited in number. */
  readonly files: readonly string[]
  readonly total: number
  /** A file changed that is not documentation, and not only in its comments. */
  readonly isCode: boolean
  /** A test file changed. */
  readonly tests: boolean
  /** Changed sources that are not tests, limited in number. */
  readonly sources: readonly string[]
  /** Commands whose result these changes cannot influence, and why, without a full stop. */
  readonly spared: Readonly<Record<string, string>>
  /** By concluded command that only starts the checks of all packages: those of the packages that these changes can influence. */
  readonly packages?: Readonly<Record<string, readonly string[]>>
  /** What sources do since then to the tests that load them, one sentence each without a full stop. */
  readonly tamed?: readonly string[]
  /** Test files that lost only tests of functions that the user asked to remove. */
  readonly obsolete?: readonly string[]
  /** Only files are gone that were not there when the work began. */
  readonly isTidied?: boolean
}

/** A run by the guard. */
export interface VerificationRun extends Evidence {
  /** Why it proves nothing; absent when it counts. */
  readonly notCounted?: string
  /** An infrastructure failure, which shows nothing about the project. */
  readonly infra?: true
  /** The first line of a red run that says what is wrong, in quotes. */
  readonly complaint?: string
}

export interface EditedFile {
  readonly path: string
  readonly hash: string | null
}

export interface SealBreak {
  readonly path: string
  readonly what: string
}

/** Enough data to name tests that were deleted or weakened between two snapshots. Paths are relative to the root. */
export interface TestInventory {
  readonly files: Readonly<Record<string, TestFileFacts>>
  /** The definition of each declared command, such as its script in package.json; empty when nothing defines it. */
  readonly definitions: Readonly<Record<string, string>>
  /** By command: its programs with place and hash, and settings in the home that change what it runs. Absent in older ledgers. */
  readonly machine?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export interface TestFileFacts {
  readonly hash: string
  /** Test cases and assertions that are not skipped, counted by syntax. */
  readonly cases: number
  readonly skipped: number
  readonly assertions: number
  readonly names?: readonly string[]
  /** Names of tests that a plain mark skips. */
  readonly off?: readonly string[]
  /** Tests that pass because they fail. */
  readonly inverted?: number
  /** Assertions that cannot fail, or that a condition leaves out. */
  readonly loose?: number
  /** It ends the run before the tests, or keeps them from failing it. */
  readonly ends?: true
  /** It imports something to test; known for JavaScript only. */
  readonly loads?: true
  /** Names that it takes from the project and uses, and functions of its own that it calls. Absent where not known. */
  readonly taken?: readonly string[]
  readonly own?: readonly string[]
  /** Each assertion: a mark of its shape without names, and one per value in it. Absent in a very long file. */
  readonly checks?: readonly string[]
  /** A mark per value in the whole file. */
  readonly values?: string
}

export interface ProjectFacts {
  /** Entries of the tree, sorted; directories end in `/`. */
  readonly entries: readonly string[]
  /** There are more entries than listed. */
  readonly truncated: boolean
  /** How many more, to the same depth; absent when not counted. */
  readonly omitted?: number
  /** Toolchains of the project, as far as its files show. */
  readonly toolchains?: readonly string[]
  readonly commands: readonly DeclaredCommand[]
  readonly plan: PlanFacts | null
}

/** A command whose success verifies the project. */
export interface DeclaredCommand {
  readonly command: string
  readonly kind: EvidenceKind
  /** Where it was found: `harness.json`, `IMPLEMENTATION_PLAN.md`, `AGENTS.md`, `package.json`, … */
  readonly source: string
  /** true when a person or the project declared it; false when it was inferred from the files of a toolchain. */
  readonly explicit: boolean
  /** The script of package.json that it runs, when that is a chain of commands. */
  readonly script?: string
  /** The program it needs, when that is not installed. */
  readonly missing?: string
}

export interface PlanFacts {
  readonly total: number
  readonly done: number
  /** Titles of the open tasks in order, shortened, at most 1,000. Their real number is `total - done`. */
  readonly open: readonly string[]
}

/**
 * What happened so far in one session of one project, derived only from the ledger by folds. Plain JSON, so it can be stored as a
 * checkpoint.
 */
export interface History {
  readonly session: SessionHistory
  readonly edits: EditHistory
  readonly calls: CallHistory
  readonly evidence: EvidenceHistory
  readonly gate: GateHistory
  readonly tasks: PlanHistory
  readonly protection: ProtectionHistory
}

/** One field of the history. `apply` is pure and cheap: it runs for every line. */
export interface Fold<State> {
  readonly initial: State
  apply(state: State, entry: LedgerEntry): State
}

export interface SessionHistory {
  readonly id: string | null
  /** ISO 8601; the first event since the session was started or resumed, but never before the latest known time. */
  readonly startedAt: string | null
  /** The latest time of any event, so a clock that goes back shortens nothing. */
  readonly latestMs: number
  readonly isOver?: boolean
  readonly contextInjected: boolean
  readonly compactedAt: string | null
  /** Saved before a compaction to be injected after it; null once the session has continued. */
  readonly relay: string | null
  /** Declared at the start of the session. The agent cannot remove them. */
  readonly declared: readonly DeclaredCommand[]
  readonly entries: number
  /** Subjects that were already reported once, from `Note.warned`. */
  readonly warned: readonly string[]
  /** How often the guard denied a call, refused a stop or said something to the user. */
  readonly sums?: { readonly denied: number; readonly refused: number; readonly noticed: number }
  /** Their total at the last accepted end. */
  readonly summedUp?: number
}

export interface EditHistory {
  /** The smallest number of failed tests so far. A smaller one is progress. */
  readonly fewestFailing?: number
  /** By absolute path. One record per file: a hook reads all of them, so they are stored as they are used. */
  readonly files: Readonly<Record<string, FileEdits>>
  /** First open task of the plan when it was last looked at; null when all are done, absent when there was no look. */
  readonly task?: string | null
  /** Edits per agent id (`main` for the main thread) since the session began. */
  readonly byAgent: Readonly<Record<string, number>>
}

/** The edits of a file by Write, Edit, MultiEdit, NotebookEdit and patches. */
export interface FileEdits {
  /** Since the session began anew; 0 when only a command changed the file. */
  readonly count: number
  /** Since the current task began. A setting decides which of the two counts: see `editCount`. */
  readonly sinceTask: number
  /** Since tests were last seen green. */
  readonly sinceGreen: number
  /** Content hashes after each edit since then, oldest first, a bounded number. */
  readonly contents: readonly (string | null)[]
}

export interface CallHistory {
  /** The last calls, oldest first, limited in number. */
  readonly recent: readonly PastCall[]
  /** Calls that have not ended, by id or signature, with the tree before them if it was read. */
  readonly open: Readonly<Record<string, OpenCall>>
  readonly total: number
  readonly failures: number
}

export interface OpenCall {
  readonly tree: string | null
  readonly at: string
  /** Where it started. */
  readonly cwd?: string
  /** The command or the path, for messages. Absent for a call that only reads. */
  readonly label?: string
  /** The event that started it. */
  readonly entry?: string
  /** The event that ended it. The call stays until that event is decided, so that rules can compare the trees. */
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
  /** Directory or package it works in; absent for the usual one. */
  readonly place?: string
  /** The command or the path, shortened, for messages. */
  readonly label: string
  /** Only reads or waits, so repeating it is not a loop. */
  readonly quiet?: true
  /** When a command began whose end was not seen: it may still run. */
  readonly began?: string
}

export interface EvidenceHistory {
  /** The newest per command. */
  readonly byCommand: Readonly<Record<string, Evidence & { readonly by: EvidenceSource }>>
  /** Why the last run of a command did not count, until one does. */
  readonly rejected: Readonly<Record<string, string>>
  /** Of these commands, those whose last run was unclear, with its tree, until the next accepted end. */
  readonly unclear?: Readonly<Record<string, string>>
  /** The tests when everything was last green, or at the start of the session. */
  readonly tests: TestInventory | null
  /** Whether that snapshot was taken when everything was green. */
  readonly testsGreen: boolean
  /** Test files that appeared since the last accepted end, with their number of tests. */
  readonly newTests?: Readonly<Record<string, number>>
  /** Every command ever discovered in the project. */
  readonly known?: readonly DeclaredCommand[]
  /** The tree when the session began. */
  readonly startTree?: string
  /** The newest run per command on that tree: what failed there failed before the session. */
  readonly atStart?: Readonly<Record<string, Evidence>>
  /** Tests that failed on that tree in runs of a part of a command. */
  readonly failedAtStart?: Readonly<Record<string, readonly string[]>>
  /** The last failed test runs, oldest first. */
  readonly reds?: readonly Evidence[]
  /** The last runs, oldest first: the newest of each command on each tree. */
  readonly runs?: readonly (Evidence & { readonly by: EvidenceSource })[]
  /** Outputs of a build that calls wrote without building them, the newest last. */
  readonly placed?: Readonly<Record<string, string>>
  /** The most tests that a run of the command executed since the last accepted end, by command. */
  readonly most?: Readonly<Record<string, number>>
}

export interface GateHistory {
  /** The tree that needs no verification: taken at the start of the session, then at each end. */
  readonly baseTree: string | null
  /** The tree when the session began; absent in a session that began with another version. */
  readonly startTree?: string
  /** Refusals in the current prompt, by agent id or `main`. */
  readonly refusals: Readonly<Record<string, number>>
  readonly lastEnd: { readonly state: EndState; readonly tree: string | null; readonly at: string } | null
  /** Trees a person has waived. */
  readonly waived: readonly string[]
  /** Epoch ms until which a person has unlocked self-protection; 0 when not unlocked. */
  readonly unlockedUntilMs: number
  /** Tree when a subagent started, by agent id. */
  readonly subagentTrees: Readonly<Record<string, string | null>>
  readonly promptId: string | null
  /** The user has sent a prompt in this session. */
  readonly isPrompted?: true
  /** The guard's own files when they were sealed: content hash by absolute path, null for a file that must not exist. */
  readonly sealed: Readonly<Record<string, string | null>> | null
  /** What the settings files said when they were sealed, by absolute path. */
  readonly sealedTexts?: Readonly<Record<string, string>>
  /** No call that could change the tree was made since the base was taken, so changes are not the agent's. */
  readonly settled?: boolean
  /** Number of ticked tasks in the plan when they were last counted, and when the base was taken. */
  readonly ticked?: number
  readonly baseTicked?: number
  /** Commits of the local branches at the start of the session, and at the last accepted end. */
  readonly heads?: Readonly<Record<string, string>>
  /** When that was. */
  readonly headsAt?: string
  /** How this session used git since the last end. */
  readonly usedGit?: readonly ('commit' | 'stash')[]
  /** It edited files since the last end. */
  readonly hasEdited?: true
  /** It did more since then than read and move between commits. */
  readonly hasWorked?: true
  /** Command lines after that which may have copied them, newest last. */
  readonly copies?: readonly string[]
  /** The same at the last stop. */
  readonly headsNow?: Readonly<Record<string, string>>
  /** What the last refusal in the current prompt named, by agent id or `main`. */
  readonly refusedFor?: Readonly<Record<string, readonly string[]>>
  /** How much of the plan the user asked for; absent for all of it. */
  readonly scope?: PlanScope
  /** Names in prompts of the user that asked to remove something. */
  readonly toRemove?: readonly string[]
  /** The last prompt asks not to run the checks. */
  readonly noRuns?: true
  /** How much of the plan subagents were asked for, by type, from the prompts they were started with. */
  readonly subagentScopes?: Readonly<Record<string, PlanScope>>
}

/** How much of the plan was asked for. */
export interface PlanScope {
  /** Number of tasks after which the work may end. null: named in words, so the guard does not count. */
  readonly tasks: number | null
  /** Tasks that were done before. */
  readonly doneBefore: number
}

export interface ProtectionHistory {
  /** Oldest first, limited in number. */
  readonly unseen: readonly UnseenChange[]
  /** Refusals because of them in the current prompt. */
  readonly refusals: number
  /** When the current prompt began. */
  readonly turnAt: string
  readonly promptId: string | null
  /** The last call of this prompt that may have left a process running. */
  readonly left: string | null
  /** The same of an earlier prompt. */
  readonly leftEarlier?: string
  /** The files were looked at before. */
  readonly isWatched: boolean
  /** What calls of any session changed. A session that starts takes them over. */
  readonly noted?: readonly UnseenChange[]
}

export interface UnseenChange extends ProtectedChange {
  readonly at: string
  /** The calls that were running; null when it happened between calls. */
  readonly by: string | null
  /** A call before it that may have left a process running. */
  readonly left: string | null
  /** A call of an earlier prompt that may have. */
  readonly leftEarlier?: string
}

export interface PlanHistory {
  readonly current: string | null
  readonly done: number
  readonly remaining: number
  /** Incremented with every finished task. */
  readonly iteration: number
  readonly phase: 'idle' | 'executing'
  readonly tdd: 'red' | 'green' | 'refactor' | null
  readonly plan: PlanFacts | null
  /** What was edited since the last green tests. */
  readonly touched?: { readonly tests: boolean; readonly any: boolean }
}
