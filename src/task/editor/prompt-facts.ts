import type { AttemptRecord, ParsedTask } from '../contract.ts'
import type { StuckContext } from '../reports/read-stuck-report.ts'
import type { ScoutAReport } from '../scouts/scout-a-schema.ts'
import type { ScoutBReport } from '../scouts/scout-b-schema.ts'
import type { Decision } from '../snapshots/write-snapshot.ts'
import type { Conventions } from './sample-conventions.ts'

/** All that a prompt for the Editor is made of. */
export interface PromptFacts {
  readonly task: ParsedTask
  readonly strategy: string
  readonly scoutA: ScoutAReport | null
  readonly scoutB: ScoutBReport | null
  readonly decisions: readonly Decision[]
  readonly conventions: Conventions | null
  readonly package: string | null
  readonly steps: readonly { readonly name: string; readonly command: string }[]
  readonly stuck: StuckContext | null
  readonly situation: Situation
  /** How the tests are weaker than when the task began. */
  readonly weaker: readonly string[]
  /** The turn before was cut off by the end of its process: what it did so far is in the files. */
  readonly isContinued: boolean
}

export type Situation =
  | { readonly kind: 'first' }
  | {
      readonly kind: 'fix' | 'replan'
      readonly attempts: readonly AttemptRecord[]
      readonly log: string
      readonly diagnosis: ScoutBReport['failure_analysis'] | null
      /** Strategies before the current one. */
      readonly earlier: readonly string[]
    }
  /** The tree is one that failed before, or nothing was changed at all. */
  | { readonly kind: 'repeated'; readonly of: number | null; readonly before: Situation }
  | { readonly kind: 'untested'; readonly files: readonly string[] }
