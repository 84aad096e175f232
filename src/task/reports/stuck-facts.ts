import type { FailedStep } from '../../verifier/contract.ts'
import type { AttemptRecord, ParsedTask } from '../contract.ts'
import type { ScoutBReport } from '../scouts/scout-b-schema.ts'

/** All that is known when a task is given up. */
export interface StuckFacts {
  readonly task: ParsedTask
  readonly description: string
  readonly at: Date
  readonly status: 'STUCK' | 'INFRA_ERROR'
  readonly infrastructure: InfrastructureFault | null
  readonly attempts: readonly AttemptRecord[]
  readonly strategies: readonly string[]
  readonly filesModified: readonly string[]
  /** End of the combined log of the last verification; empty when there was none. */
  readonly lastLog: string
  readonly failedStep?: FailedStep
  readonly diagnosis: ScoutBReport['failure_analysis'] | null
  /** What the Scouts said that was not so. */
  readonly corrections: readonly string[]
}

export interface InfrastructureFault {
  readonly source: string
  readonly message: string
  readonly advice: string
}

export interface Hypothesis {
  readonly title: string
  readonly text: string
  readonly investigation: string
}
