import type { AgentOutcome } from '../../agents/contract.ts'
import { interactionMetrics } from '../../analysis/metrics.ts'
import type { GateResult, TrialRecord } from '../../core/trial.ts'
import type { JudgedRun } from './judge-iteration.ts'
import type { PlanWork } from './open-plan-work.ts'

export interface IterationFacts
  extends Pick<
    TrialRecord,
    'id' | 'attempt' | 'verdict' | 'reason' | 'startedAt' | 'durationMs' | 'warnings'
  > {
  readonly task: string
  readonly line: number
  readonly runs: readonly JudgedRun[]
  /** null when the end of the agent was not observed. */
  readonly outcome: AgentOutcome | null
}

/** An iteration as stored: a trial whose case is the task and whose gates are the verification commands. */
export function iterationRecord(
  { prepared: { request, redaction }, run }: Pick<PlanWork, 'prepared' | 'run'>,
  facts: IterationFacts,
): TrialRecord {
  const { outcome } = facts
  const record: TrialRecord = {
    id: facts.id,
    case: facts.task,
    file: `${request.plan}:${facts.line}`,
    agent: request.agent,
    model: request.model,
    attempt: facts.attempt,
    verdict: facts.verdict,
    reason: facts.reason,
    gates: facts.runs.map(gateOf),
    metrics: interactionMetrics([], { completed: outcome?.exitCode === 0, source: 'none' }),
    judge: null,
    evaluators: [],
    score: null,
    tier: null,
    costUsd: outcome?.costUsd ?? null,
    tokens: outcome?.tokens ?? null,
    durationMs: facts.durationMs,
    ending: outcome?.ending ?? 'cancelled',
    agentExitCode: outcome?.exitCode ?? null,
    ...(outcome?.failure != null && { failure: outcome.failure.reason }),
    dir: run.trialDir(facts.id),
    tags: [],
    infraRetries: 0,
    cachedFrom: null,
    cacheKey: null,
    startedAt: facts.startedAt,
    warnings: [...facts.warnings, ...(outcome?.warnings ?? [])],
  }
  return redaction.value(record) as TrialRecord
}

function gateOf({ command, status, notCounted, tail, ...evidence }: JudgedRun): GateResult {
  return {
    type: 'verification',
    passed: status === 'green',
    message: notCounted === undefined ? `${command}: ${status}` : `${command}: ${notCounted}`,
    detail: { command, status, ...evidence, tail },
  }
}

/** Progress of a plan run, computed only from the records of its iterations. */
export interface PlanProgress {
  /** Iterations that were not lost. */
  readonly iterations: number
  /** Rejected attempts by task. */
  readonly attempts: ReadonlyMap<string, number>
  /** Number of lost iterations in a row, counted back from the last one. */
  readonly lostInRow: number
  readonly spentUsd: number
  /** Iterations of unknown cost. */
  readonly unmetered: number
}

export const noProgress: PlanProgress = {
  iterations: 0,
  attempts: new Map(),
  lostInRow: 0,
  spentUsd: 0,
  unmetered: 0,
}

export type IterationEnd = Pick<TrialRecord, 'case' | 'verdict' | 'costUsd'>

export function withIteration(
  progress: PlanProgress,
  { case: key, verdict, costUsd }: IterationEnd,
): PlanProgress {
  const paid = {
    spentUsd: progress.spentUsd + (costUsd ?? 0),
    unmetered: progress.unmetered + (costUsd === null ? 1 : 0),
  }
  if (verdict === 'infra' || verdict === 'invalid')
    return { ...progress, ...paid, lostInRow: progress.lostInRow + 1 }
  const failed = (progress.attempts.get(key) ?? 0) + (verdict === 'fail' ? 1 : 0)
  const attempts = new Map(progress.attempts).set(key, failed)
  return { ...paid, iterations: progress.iterations + 1, attempts, lostInRow: 0 }
}

/** null when no cost is known. */
export function costSoFar({ spentUsd, iterations, lostInRow, unmetered }: PlanProgress): number | null {
  return unmetered > 0 && unmetered >= iterations + lostInRow ? null : spentUsd
}
