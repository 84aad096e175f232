import type { AgentOutcome } from '../../agents/contract.ts'
import { interactionMetrics } from '../../analysis/metrics.ts'
import type { GateResult, TrialRecord } from '../../core/trial.ts'
import type { Verdict } from '../../core/verdict.ts'
import type { PlanWork } from './plan-work.ts'
import type { JudgedRun } from './verify-tree.ts'

export interface IterationFacts {
  readonly id: string
  readonly task: string
  readonly line: number
  readonly attempt: number
  readonly verdict: Verdict
  readonly reason: string
  readonly runs: readonly JudgedRun[]
  /** null when the agent's end was not seen. */
  readonly outcome: AgentOutcome | null
  readonly startedAt: string
  readonly durationMs: number
  readonly warnings: readonly string[]
}

/** An iteration as the store keeps it: a trial whose case is the task and whose gates are the verification commands. */
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
