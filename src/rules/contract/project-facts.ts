import type { EvidenceKind } from '../../core/evidence.ts'

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
