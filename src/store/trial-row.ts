import type { TrialRecord } from '../core/trial.ts'
import type { TrialRow } from './contract.ts'

/** A record without its bulk. */
export function trialRow(runId: string, record: TrialRecord): TrialRow {
  return {
    kind: 'trial',
    run_id: runId,
    trial_id: record.id,
    case: record.case,
    agent: record.agent,
    model: record.model,
    attempt: record.attempt,
    verdict: record.verdict,
    reason: record.reason,
    score: record.score,
    cost_usd: record.costUsd,
    duration_ms: record.durationMs,
    started_at: record.startedAt,
    cached_from: record.cachedFrom,
    cache_key: record.cacheKey,
  }
}
