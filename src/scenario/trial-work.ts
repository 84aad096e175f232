import { join } from 'node:path'
import type { AgentRequest } from '../agents/contract.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { Redaction } from '../core/redaction.ts'
import type { JudgeResult } from '../core/trial.ts'
import type { Clock } from '../io/clock.ts'
import type { AgentLink } from '../model-link/run-linked-agent.ts'
import type { Budget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import type { PriceTable } from '../models/price-table.ts'
import type { Checkpoints } from '../trials/checkpoints.ts'
import type { Case } from './case.ts'
import type { ScenarioTrial } from './plan.ts'

/** Everything one trial needs. The trial itself decides nothing about the run. */
export interface TrialWork {
  readonly planned: ScenarioTrial
  readonly case: Case
  readonly agent: ResolvedAgent
  /** The trial's directory: empty, or left by an interrupted attempt with readable checkpoints. */
  readonly dir: string
  readonly limits: TrialLimits
  /** null: no judge, even if the scenario has one. */
  readonly judge: TrialJudge | null
  readonly prices: PriceTable
  readonly redaction: Redaction
  readonly env: Readonly<Record<string, string | undefined>>
  /** The agent's link to its model; null when it calls its provider directly. */
  readonly modelLink: AgentLink | null
  readonly checkpoints: Checkpoints
  /** Whether the files of the scenario's oracle are in the workspace. */
  readonly withOracle: boolean
  /** For work that is graded again: its post scripts have run. `judge`: the earlier answer, unless it is asked again. */
  readonly earlier?: { readonly judge?: JudgeResult | null }
  readonly cacheKey: string | null
  readonly caseHash?: string | undefined
  readonly infraRetries: number
  /** Of the run. */
  readonly seed?: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export type TrialLimits = Pick<AgentRequest, 'timeoutMs' | 'maxTurns' | 'maxCostUsd' | 'raiseCostLimit'>

export interface TrialJudge {
  readonly model: Model
  /** Called when the agent's cost is known (null = unmetered); returns the budget of the judge. null: the model's own budget. */
  budget(agentUsd: number | null): Budget | null
  /** Whether the judge's question is stored: a batch may outlive this process, and its answers are found by the question. */
  readonly keepsQuestion: boolean
}

/** The paths of one trial. Its directory is self-contained. */
export type TrialPlace = Readonly<ReturnType<typeof trialPlace>>

export function trialPlace(dir: string) {
  return {
    dir,
    /** The agent's working directory, kept in its final state. */
    fixture: join(dir, 'fixture'),
    home: join(dir, 'home'),
    tmp: join(dir, 'tmp'),
    /** The program that records calls of the target, and its records; only while the agent runs. */
    bin: join(dir, 'bin'),
    calls: join(dir, 'calls'),
    transcript: join(dir, 'transcript.raw.txt'),
    events: join(dir, 'events.jsonl'),
    /** What the agent changed; absent when nothing. */
    diff: join(dir, 'workspace.diff'),
    metrics: join(dir, 'metrics.json'),
    evaluation: join(dir, 'evaluation.md'),
    /** What a judge said about it and the same trial of the first arm. */
    pair: join(dir, 'pairwise.json'),
    runFacts: join(dir, 'run.json'),
  }
}
