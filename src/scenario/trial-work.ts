import { join } from 'node:path'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { Redaction } from '../core/redaction.ts'
import type { Clock } from '../io/clock.ts'
import type { AgentLink } from '../model-link/run-linked-agent.ts'
import type { Budget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import type { PriceTable } from '../models/pricing.ts'
import type { Checkpoints } from '../trials/checkpoints.ts'
import type { Case } from './case.ts'
import type { ScenarioTrial } from './plan.ts'

/** Everything one trial needs. Powers come in here; the trial itself decides nothing about the run. */
export interface TrialWork {
  readonly planned: ScenarioTrial
  readonly case: Case
  readonly agent: ResolvedAgent
  /** The trial's directory: empty, or left by an interrupted try whose checkpoints are readable. */
  readonly dir: string
  readonly limits: TrialLimits
  /** null: no judge, whatever the scenario says. */
  readonly judge: TrialJudge | null
  readonly prices: PriceTable
  readonly redaction: Redaction
  readonly env: Readonly<Record<string, string | undefined>>
  /** The agent's link to its model; null when it calls its provider directly. */
  readonly modelLink: AgentLink | null
  readonly checkpoints: Checkpoints
  /** The files of the scenario's oracle are in the workspace. */
  readonly withOracle: boolean
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

export interface TrialJudge {
  readonly model: Model
  /** Asked once the agent's bill is known (null = unmetered): what the judge is paid from. null: the model's own budget. */
  budget(agentUsd: number | null): Budget | null
  /** What the judge is told is kept: a batch may outlive this process, and its answers are found by the question. */
  readonly keepsQuestion: boolean
}

/** Where everything of one trial lies. The directory is complete by itself. */
export interface TrialPlace {
  readonly dir: string
  /** The agent's working directory, kept as the state after the run. */
  readonly fixture: string
  readonly home: string
  readonly tmp: string
  readonly transcript: string
  readonly events: string
  readonly metrics: string
  readonly evaluation: string
  readonly runFacts: string
}

export function trialPlace(dir: string): TrialPlace {
  return {
    dir,
    fixture: join(dir, 'fixture'),
    home: join(dir, 'home'),
    tmp: join(dir, 'tmp'),
    transcript: join(dir, 'transcript.raw.txt'),
    events: join(dir, 'events.jsonl'),
    metrics: join(dir, 'metrics.json'),
    evaluation: join(dir, 'evaluation.md'),
    runFacts: join(dir, 'run.json'),
  }
}
