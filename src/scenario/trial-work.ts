import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { Clock } from '../io/clock.ts'
import type { Model } from '../models/contract.ts'
import type { PriceTable } from '../models/pricing.ts'
import type { Case } from './case.ts'
import type { PlannedTrial } from './plan.ts'
import type { Redaction } from './redaction.ts'

/** Everything one trial needs. Powers come in here; the trial itself decides nothing about the run. */
export interface TrialWork {
  readonly planned: PlannedTrial
  readonly case: Case
  readonly agent: ResolvedAgent
  /** The trial's directory: empty, or left by an interrupted try whose checkpoints are readable. */
  readonly dir: string
  readonly limits: TrialLimits
  /** null: no judge, whatever the scenario says. */
  readonly judge: Model | null
  readonly prices: PriceTable
  readonly redaction: Redaction
  readonly env: Readonly<Record<string, string | undefined>>
  readonly checkpoints: Checkpoints
  /** The files of the scenario's oracle are in the workspace. */
  readonly withOracle: boolean
  readonly targetVersion: string | null
  readonly cacheKey: string | null
  readonly infraRetries: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface TrialLimits {
  readonly timeoutMs: number
  readonly maxTurns?: number
  readonly maxCostUsd?: number
}

/** Stages inside a trial that survive kill -9. */
export interface Checkpoints {
  read(name: string): unknown
  write(name: string, value: unknown): void
}
