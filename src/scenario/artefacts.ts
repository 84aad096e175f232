import type { Redaction } from '../core/redaction.ts'
import type { TrialRecord } from '../core/trial.ts'
import { removeTree, writeFileAtomic, writeJsonAtomic } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import { sha256 } from '../io/sha256.ts'
import { evaluationMarkdown } from '../report/md/evaluation-markdown.ts'
import type { Case } from './case.ts'
import { type TrialPlace, trialPlace } from './trial-work.ts'

export interface ArtefactFacts {
  readonly case: Case
  /** null when the agent does not report one. */
  readonly toolVersion: string | null
  readonly targetVersion: string | null
  readonly redaction: Redaction
}

/** The files of a finished trial for people and scripts, besides the log, the transcript and the workspace. */
export function writeArtefacts(record: TrialRecord, facts: ArtefactFacts): void {
  const place = trialPlace(record.dir)
  writeJsonAtomic(place.metrics, metricsDocument(record))
  writeJsonAtomic(place.runFacts, runDocument(record, facts))
  writeEvaluation(record, place)
  if (!removeIfEmpty(place.tmp)) removeTree(place.tmp)
  removeIfEmpty(place.home)
}

/** `evaluation.md`, with links to the files that exist. */
export function writeEvaluation(
  record: TrialRecord,
  place: TrialPlace,
  isThere: (path: string) => boolean = () => true,
): void {
  const { dir, transcript, metrics, events, fixture, diff } = place
  const links = Object.entries({ transcript, metrics, events, fixture, diff })
    .filter(([, path]) => (path === diff ? pathKind(path) !== null : isThere(path)))
    .map(([label, path]) => [label, path.slice(dir.length + 1)])
  writeFileAtomic(place.evaluation, evaluationMarkdown(record, { links: Object.fromEntries(links) }))
}

function metricsDocument(record: TrialRecord): Record<string, unknown> {
  return {
    outcome: record.verdict,
    reason: record.reason,
    gates_passed: record.gates.filter((gate) => gate.passed).length,
    gates_total: record.gates.length,
    gate_results: record.gates,
    judge_score: record.judge?.weighted_score ?? null,
    ...(record.score !== null && { composite_score: record.score, tier: record.tier }),
    duration_secs: record.durationMs / 1000,
    cost_usd: record.costUsd,
    interaction: record.metrics,
    evaluators: Object.fromEntries(record.evaluators.map(({ name, ...result }) => [name, result])),
  }
}

function runDocument(record: TrialRecord, facts: ArtefactFacts): Record<string, unknown> {
  return {
    scenario_id: record.case,
    scenario_hash: sha256(facts.case.source.text),
    tool: record.agent,
    tool_version: facts.toolVersion,
    model: record.model,
    prompt: facts.redaction.text(facts.case.scenario.task.prompt),
    target_tool_version: facts.targetVersion,
    timestamp: record.startedAt,
    duration_secs: record.durationMs / 1000,
    cost_estimate_usd: record.costUsd,
    token_usage: record.tokens === null ? null : { input: record.tokens.input, output: record.tokens.output },
    cache_key: record.cacheKey,
    attempt: record.attempt,
    transcript_is_sensitive: true,
  }
}
