import type { Evidence } from '../../core/evidence.ts'
import type { ProjectFacts } from './project-facts.ts'

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
