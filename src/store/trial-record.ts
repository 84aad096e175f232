import { parseJson } from '../core/json-fields.ts'
import type { TrialRecord } from '../core/trial.ts'
import { verdicts } from '../core/verdict.ts'
import type { TrialRow } from './contract.ts'

/** The id always comes first, so lines of the trial log can be distinguished without parsing. */
export function serializeTrialRecord(record: TrialRecord): string {
  const { id, ...rest } = record
  return `${JSON.stringify({ id, ...rest })}\n`
}

/** The id at the beginning of a serialized record; null when the line is not a record. */
export function idOfLine(head: string): string | null {
  return /^\{"id":"([A-Za-z0-9][A-Za-z0-9._-]{0,149})"/.exec(head)?.[1] ?? null
}

/** How much of a line `idOfLine` needs. */
export const recordHeadBytes = 160

/** null when the text is not a complete record of that trial. */
export function parseTrialRecord(text: string, trialId: string): TrialRecord | null {
  const value = parseJson(text)
  return isRecord(value) && value.id === trialId ? value : null
}

/** A record is written in one piece, so checking a few fields is enough. */
export function isRecord(value: unknown): value is TrialRecord {
  if (typeof value !== 'object' || value === null) return false
  if (!('id' in value && 'verdict' in value && 'gates' in value && 'case' in value)) return false
  return (
    typeof value.id === 'string' &&
    typeof value.case === 'string' &&
    verdicts.some((verdict) => verdict === value.verdict) &&
    Array.isArray(value.gates)
  )
}

/** A record without its large fields. */
export function trialRow(runId: string, record: TrialRecord): TrialRow {
  const { tokens } = record
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
    tags: record.tags.length === 0 ? null : JSON.stringify(record.tags),
    input_tokens: tokens === null ? null : tokens.input + tokens.cacheRead + tokens.cacheWrite,
    output_tokens: tokens?.output ?? null,
  }
}
